"""`strictwire plan`: make, check, approve and read the plans of a governed workspace."""

from __future__ import annotations

import argparse
import getpass
import sys
import time
from pathlib import Path
from typing import Any, Final

from strictwire.fault.failure import Refused, fail
from strictwire.packs.workspace.pack import KEY
from strictwire.packs.workspace.verbs import (
    CommandContext,
    CommandResult,
    is_hash,
    run_approve,
    run_command,
    run_diff,
    run_lint,
    run_list,
    run_new,
    run_show,
)
from strictwire.settings.places import state_folder

EXAMPLES: Final = """examples:
  strictwire plan new > draft.md            a plan to fill in
  strictwire plan new draft.md              keep it under docs/plans, by its hash
  strictwire plan lint draft.md
  strictwire plan list
  strictwire plan approve HASH              asks at the terminal, and signs
  strictwire plan diff HASH                 what was changed under it
  strictwire plan diff HASH --each          the same, change by change

exit codes: 0 fine, 100 findings, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The verbs and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=type(parser))
    _verb(verbs, "new", "print a plan to fill in, or keep a draft").add_argument("draft", nargs="?", type=Path)
    _verb(verbs, "lint", "say what is wrong with a plan").add_argument("plan", metavar="HASH|FILE")
    _verb(verbs, "approve", "vouch for a plan, after reading it").add_argument("hash")
    _verb(verbs, "list", "list the plans and whether each can be used")
    _verb(verbs, "show", "print a plan").add_argument("hash")
    diff = _verb(verbs, "diff", "show what was changed under a plan, as unified diffs")
    diff.add_argument("hash")
    diff.add_argument("--phase", metavar="ID", help="only changes of this phase")
    diff.add_argument("--each", action="store_true", help="every change by itself, instead of the first against the last")


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
    )
    made.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="the workspace (default: here)")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Run one verb and write what it gives."""
    return write(run_command(lambda: _run(arguments, place_of(arguments.root))))


def _run(arguments: argparse.Namespace, place: CommandContext) -> CommandResult:
    match arguments.verb:
        case "new":
            draft = arguments.draft.read_text(encoding="utf-8") if arguments.draft else None
            return run_new(place, author=_person(), draft=draft)
        case "lint" if is_hash(arguments.plan):
            return run_lint(place, text=None, plan_hash=arguments.plan)
        case "lint":
            return run_lint(place, text=Path(arguments.plan).read_text(encoding="utf-8"), plan_hash=None)
        case "approve":
            return _approve(place, arguments.hash)
        case "list":
            return run_list(place)
        case "diff":
            return run_diff(place, plan_hash=_as_hash(arguments.hash), phase_id=arguments.phase, is_each=arguments.each)
        case _:
            return run_show(place, plan_hash=arguments.hash)


def _approve(place: CommandContext, plan_hash: str) -> CommandResult:
    """Only a person can: the plan is shown, and the answer must come from a terminal."""
    if not sys.stdin.isatty():
        return CommandResult(exit_code=1, stderr="error: approving needs a person at a terminal\n")
    write(run_show(place, plan_hash=plan_hash))
    if input(f"Type the first 8 characters of the hash ({plan_hash[:4]}…) to approve this plan: ").strip() != plan_hash[:8]:
        return CommandResult(exit_code=1, stderr="not approved\n")
    return run_approve(place, plan_hash=plan_hash, approver=_person())


def _as_hash(text: str) -> str:
    """Raises Refused: PLAN_NOT_FOUND what is no hash names no plan."""
    if not is_hash(text):
        raise Refused(fail("PLAN_NOT_FOUND", text="expected the 64 hexadecimal digits that name a plan; see plan list"))
    return text


def _person() -> str:
    return f"terminal:{getpass.getuser()}"


def place_of(root: Path) -> CommandContext:
    """A workspace with the key of this user's server."""
    state = state_folder() / "packs"
    return CommandContext(root=root, key=state / KEY, now=time.time, state=state)


def write(answer: CommandResult) -> int:
    """Print an answer; its exit code."""
    sys.stdout.write(answer.stdout)
    sys.stdout.flush()
    sys.stderr.write(answer.stderr)
    return answer.exit_code
