"""`strictwire plan`: creates, checks, approves and shows the plans of a governed workspace."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli import shared
from strictwire.cli.operator_record import NotRecorded, OperatorAct, decide
from strictwire.cli.person import person_name
from strictwire.fault.escape import for_terminal_text
from strictwire.fault.failure import Refused, fail
from strictwire.packs.workspace.verbs import (
    CommandContext,
    CommandResult,
    find_plan,
    is_hash,
    review_plan,
    run_approve,
    run_command,
    run_diff,
    run_lint,
    run_list,
    run_new,
    run_show,
)
from strictwire.settings.places import STATE_VARIABLE, state_folder

if TYPE_CHECKING:
    from strictwire.settings.model import AuditSettings

EXAMPLES: Final = """examples:
  strictwire plan new > draft.md            print a plan template
  strictwire plan new draft.md              store the draft under docs/plans, named by its hash
  strictwire plan lint draft.md
  strictwire plan list
  strictwire plan approve                   show the plan that waits and a code to type, then sign
  strictwire plan diff HASH                 show the changes made under a plan
  strictwire plan diff HASH --each          show each change separately

exit codes: 0 success, 100 findings, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=type(parser))
    _verb(verbs, "new", "print a plan template, or store a draft").add_argument("draft", nargs="?", type=Path)
    _verb(verbs, "lint", "check a plan").add_argument("plan", metavar="HASH|FILE")
    approve = _verb(verbs, "approve", "approve and sign a plan, after typing a code that the terminal shows")
    approve.add_argument("hash", nargs="?", help="the plan, or the first digits of its hash (default: the one that waits)")
    shared.add_config(approve)
    _verb(verbs, "list", "list the plans and whether each is usable")
    _verb(verbs, "show", "print a plan").add_argument("hash")
    diff = _verb(verbs, "diff", "show the changes made under a plan, as unified diffs")
    diff.add_argument("hash")
    diff.add_argument("--phase", metavar="ID", help="only changes of this phase")
    diff.add_argument("--each", action="store_true", help="show every change, instead of the first version against the last")


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
    )
    made.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="workspace folder (default: current folder)")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and print its result."""
    from strictwire.settings.read import SettingsRefused

    try:
        return write(run_command(lambda: _run(arguments, place_of(arguments.root))))
    except SettingsRefused as exc:
        return write(CommandResult(exit_code=shared.USAGE, stderr=f"error: {exc}\n"))


def _run(arguments: argparse.Namespace, place: CommandContext) -> CommandResult:
    match arguments.verb:
        case "new":
            draft = arguments.draft.read_text(encoding="utf-8") if arguments.draft else None
            return run_new(place, author=person_name(), draft=draft)
        case "lint" if is_hash(arguments.plan):
            return run_lint(place, text=None, plan_hash=arguments.plan)
        case "lint":
            return run_lint(place, text=Path(arguments.plan).read_text(encoding="utf-8"), plan_hash=None)
        case "approve":
            return _approve(place, arguments)
        case "list":
            return run_list(place)
        case "diff":
            return run_diff(place, plan_hash=_as_hash(arguments.hash), phase_id=arguments.phase, is_each=arguments.each)
        case _:
            return run_show(place, plan_hash=arguments.hash)


def _approve(place: CommandContext, arguments: argparse.Namespace) -> CommandResult:
    """Show the plan and a code on the terminal, and approve if the code is typed back. Recorded, whatever the outcome."""
    from strictwire.settings.read import FILE, read_settings

    approver, plan_hash = person_name(), find_plan(place, arguments.hash)
    audit = read_settings(file=arguments.config, default=arguments.root / FILE).audit
    act = OperatorAct(principal=approver, tool="approve_plan", root=str(place.root.resolve()), plan_hash=plan_hash)
    try:
        return decide(
            audit,
            act,
            question="Approve this plan?",
            show=lambda: review_plan(place, plan_hash=plan_hash, approver=approver) + _where_recorded(audit),
            work=lambda: run_approve(place, plan_hash=plan_hash, approver=approver),
        )
    except NotRecorded as exc:
        state = run_show(place, plan_hash=plan_hash).stderr
        return CommandResult(exit_code=1, stderr=f"error: {exc}\n{state}")


def _where_recorded(audit: AuditSettings) -> str:
    """Return a line that says where the decision is recorded. The settings may come from a repository that was cloned."""
    from strictwire.server.compose import trail_of

    return "Not recorded: audit.mode is off\n" if audit.mode == "off" else f"Recorded in {trail_of(audit).folder}\n"


def _as_hash(text: str) -> str:
    """Check that the text is a plan hash. Raises Refused (PLAN_NOT_FOUND)."""
    if not is_hash(text):
        raise Refused(
            fail("PLAN_NOT_FOUND", text="expected a plan hash of 64 hexadecimal digits; run `strictwire plan list`")
        )
    return text


def place_of(root: Path) -> CommandContext:
    """The workspace at a folder, with the key and state of this user's server."""
    state = state_folder() / "packs"
    return CommandContext(root=root, state=state, state_variable=STATE_VARIABLE, now=time.time)


def write(answer: CommandResult) -> int:
    """Print a result and return its exit code. Titles, paths and reasons come from agents, so they are escaped."""
    is_exact = answer.is_exact and not sys.stdout.isatty()
    sys.stdout.write(answer.stdout if is_exact else for_terminal_text(answer.stdout))
    sys.stdout.flush()
    sys.stderr.write(for_terminal_text(answer.stderr))
    return answer.exit_code
