"""`strictwire workspace`: sets up, examines, reports on, stops and resumes a governed workspace."""

from __future__ import annotations

import argparse
import json
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli import shared
from strictwire.cli.operator_record import NotRecorded, OperatorAct, decide, open_journal
from strictwire.cli.person import person_name
from strictwire.cli.plan import place_of, write
from strictwire.packs.workspace.attest.check import MAX_BUNDLE, TrustedKeys
from strictwire.packs.workspace.operations import run_doctor, run_report, run_resume, run_stop
from strictwire.packs.workspace.setup import Team, detect_programs, render_settings
from strictwire.packs.workspace.verbs import (
    CommandContext,
    CommandResult,
    is_hash,
    run_check,
    run_command,
    run_status,
)

if TYPE_CHECKING:
    from strictwire.settings.model import Settings

EXAMPLES: Final = """examples:
  strictwire workspace init                      write strictwire.toml for one person
  strictwire workspace init --planner ada --builder bob --approver eve   for a team, with a token each
  strictwire workspace doctor                    explain what a plan could not do here
  strictwire workspace status --root ~/projects/one
  strictwire workspace report                    who changed what under which plan, with proofs
  strictwire workspace report HASH --json
  strictwire workspace stop --reason 'wrong branch'   refuse every change until it is resumed
  strictwire workspace resume                    undo interrupted changes and lift the stop; asks at the terminal
  strictwire workspace check bundle.json --workspace-key KEY --audit-key audit.key.pub

exit codes: 0 success, 100 findings, 1 could not run, 2 wrong usage
"""

FILE: Final = "strictwire.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=type(parser))
    _add_init(_verb(verbs, "init", "write the settings of a workspace, for one person or a team"))
    _verb(verbs, "doctor", "explain what a plan could not do here, and what to change")
    _verb(verbs, "status", "show sessions, locks, open plans, last records, and files that a crash left behind")
    report = _verb(verbs, "report", "show who changed what under which plan, with proofs")
    report.add_argument("hash", nargs="?", help="one plan (default: all)")
    report.add_argument("--json", action="store_true", help="print the report as JSON, with the signed checkpoints")
    stop = _verb(verbs, "stop", "refuse every change in the workspace at once, in all servers of this user; recorded")
    stop.add_argument("--reason", required=True, help="shown to every agent that is refused")
    _verb(verbs, "resume", "undo interrupted changes and lift a stop, after a confirmation at the terminal; recorded")
    check = verbs.add_parser("check", help="check an attestation bundle, without a server", allow_abbrev=False)
    check.add_argument("bundle", type=Path, metavar="FILE")
    check.add_argument("--workspace-key", metavar="KEY", help="public key of the workspace, as `workspace status` shows it")
    check.add_argument("--audit-key", type=Path, metavar="FILE", help="public key of the audit trail")


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(name, help=summary, allow_abbrev=False)
    made.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="workspace folder (default: current folder)")
    shared.add_config(made)
    return made


def _add_init(parser: argparse.ArgumentParser) -> None:
    for option, what in (("planner", "may plan"), ("builder", "may execute plans"), ("approver", "may approve plans")):
        text = f"member of a team who {what}; may be repeated (default: one person)"
        parser.add_argument(f"--{option}", action="append", default=[], metavar="NAME", help=text)
    text = "program that verification commands may start; may be repeated (default: what the project suggests)"
    parser.add_argument("--command", action="append", default=[], metavar="PROGRAM", help=text)
    parser.add_argument("--print", action="store_true", help="print the settings, write nothing")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and print its result."""
    from strictwire.settings.read import SettingsRefused

    try:
        return write(run_command(lambda: _VERBS[arguments.verb](arguments)))
    except SettingsRefused as exc:
        return write(CommandResult(exit_code=shared.USAGE, stderr=f"error: {exc}\n"))


def _init(arguments: argparse.Namespace) -> CommandResult:
    """Write the settings file. An existing one is never replaced."""
    root = arguments.root.resolve(strict=True)
    team = Team(planners=tuple(arguments.planner), builders=tuple(arguments.builder), approvers=tuple(arguments.approver))
    problem = team.find_problem()
    if problem is not None:
        return CommandResult(exit_code=shared.USAGE, stderr=f"error: {problem}\n")
    detected, environment = detect_programs(root)
    tokens = {name: secrets.token_urlsafe(32) for name in team.members}
    commands = arguments.command or detected
    text = render_settings(root, commands=commands, environment=environment, team=team, secrets=tokens)
    if arguments.print:
        return CommandResult(stdout=text, is_exact=True)
    file = arguments.config or root / FILE
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(text)
    except FileExistsError:
        advice = "edit it, or see `strictwire workspace init --print`"
        return CommandResult(exit_code=1, stderr=f"error: {file} exists; {advice}\n")
    return CommandResult(stdout=_next_steps(file.resolve(), tokens), stderr=f"wrote {file}\n")


def _next_steps(file: Path, tokens: Mapping[str, str]) -> str:
    """Return how to connect agents: over stdio for one person, over HTTP with a token for each member of a team."""
    if tokens:
        shown = "".join(f"  {name}: {token}\n" for name, token in tokens.items())
        start = f"Start: strictwire serve --config {shlex.quote(str(file))}\n"
        return f"Tokens, shown only now; give each to its owner:\n{shown}{start}"
    entry = {"command": "strictwire", "args": ["serve", "--stdio", "--config", str(file)]}
    return (
        f"Add to your MCP client: {json.dumps({'mcpServers': {'workspace': entry}})}\n"
        "When the agent has created a plan: strictwire plan approve\n"
    )


def _status(arguments: argparse.Namespace) -> CommandResult:
    return run_status(_with_trail(arguments))


def _doctor(arguments: argparse.Namespace) -> CommandResult:
    from strictwire.packs.pack import LOCAL
    from strictwire.server.system_user import system_user

    settings = _settings(arguments).packs.get("workspace", {})
    return run_doctor(place_of(arguments.root), settings=settings, local=frozenset({LOCAL, system_user()}))


def _report(arguments: argparse.Namespace) -> CommandResult:
    if arguments.hash is not None and not is_hash(arguments.hash):
        return CommandResult(exit_code=shared.USAGE, stderr="error: expected a plan hash; run `strictwire plan list`\n")
    return run_report(_with_trail(arguments), plan_hash=arguments.hash, is_json=arguments.json)


def _stop(arguments: argparse.Namespace) -> CommandResult:
    result = run_stop(place_of(arguments.root), by=person_name(), reason=arguments.reason)
    _record_stop(arguments)
    return result


def _resume(arguments: argparse.Namespace) -> CommandResult:
    try:
        return decide(
            _settings(arguments).audit,
            _act(arguments, "workspace.resume"),
            question="Resume changes in this workspace?",
            show=lambda: run_status(_with_trail(arguments)).stdout,
            work=lambda: run_resume(place_of(arguments.root)),
        )
    except NotRecorded as exc:
        return CommandResult(exit_code=1, stderr=f"error: {exc}\n")


def _record_stop(arguments: argparse.Namespace) -> None:
    """Record a stop in the audit trail of the server. The stop holds even if the trail cannot be written."""
    try:
        with open_journal(_settings(arguments).audit, _act(arguments, "workspace.stop")) as journal:
            journal.note({"reason": arguments.reason})
    except NotRecorded as exc:
        print(f"warning: {exc}", file=sys.stderr)


def _act(arguments: argparse.Namespace, verb: str) -> OperatorAct:
    return OperatorAct(principal=person_name(), tool=verb, root=str(arguments.root.resolve()))


def _check(arguments: argparse.Namespace) -> CommandResult:
    from strictwire.stores.files.keys import KeyUnsafe, read_public_key

    try:
        audit = read_public_key(arguments.audit_key).render() if arguments.audit_key else None
    except KeyUnsafe as exc:
        return CommandResult(exit_code=1, stderr=f"error: {exc}\n")
    with arguments.bundle.open("rb") as file:
        raw = file.read(MAX_BUNDLE + 1)
    return run_check(raw, TrustedKeys(workspace=arguments.workspace_key, audit=audit))


def _with_trail(arguments: argparse.Namespace) -> CommandContext:
    from strictwire.server.compose import view_of

    return replace(place_of(arguments.root), trail=view_of(_settings(arguments).audit), now=time.time)


def _settings(arguments: argparse.Namespace) -> Settings:
    """Read the settings: the given file, or that of the workspace."""
    from strictwire.settings.read import read_settings

    return read_settings(file=arguments.config, default=arguments.root / FILE)


_VERBS: Final[Mapping[str, Callable[[argparse.Namespace], CommandResult]]] = MappingProxyType(
    {
        "init": _init,
        "doctor": _doctor,
        "status": _status,
        "report": _report,
        "stop": _stop,
        "resume": _resume,
        "check": _check,
    }
)
