"""`strictwire workspace`: shows the state of a governed workspace and checks attestation bundles."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Final

from strictwire.cli import shared
from strictwire.cli.plan import place_of, write
from strictwire.packs.workspace.attest.check import MAX_BUNDLE, TrustedKeys
from strictwire.packs.workspace.verbs import CommandResult, run_check, run_command, run_status

EXAMPLES: Final = """examples:
  strictwire workspace status
  strictwire workspace status --root ~/projects/one
  strictwire workspace check bundle.json --workspace-key KEY --audit-key audit.key.pub

exit codes: 0 success, 100 a crash left files behind or the bundle is invalid, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=type(parser))
    status = verbs.add_parser(
        "status",
        help="show sessions, locks, open plans, last records, and files that a crash left behind",
        allow_abbrev=False,
    )
    status.add_argument(
        "--root", type=Path, default=Path(), metavar="DIR", help="workspace folder (default: current folder)"
    )
    shared.add_config(status)
    check = verbs.add_parser("check", help="check an attestation bundle, without a server", allow_abbrev=False)
    check.add_argument("bundle", type=Path, metavar="FILE")
    check.add_argument("--workspace-key", metavar="KEY", help="public key of the workspace, as `workspace status` shows it")
    check.add_argument("--audit-key", type=Path, metavar="FILE", help="public key of the audit trail")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and print its result."""
    if arguments.verb == "check":
        return write(run_command(lambda: _check(arguments)))
    return write(run_command(lambda: _status(arguments)))


def _status(arguments: argparse.Namespace) -> CommandResult:
    from strictwire.server.compose import view_of
    from strictwire.settings.read import SettingsRefused, read_settings

    try:
        trail = view_of(read_settings(file=arguments.config).audit)
    except SettingsRefused as exc:
        return CommandResult(exit_code=shared.USAGE, stderr=f"error: {exc}\n")
    return run_status(replace(place_of(arguments.root), trail=trail))


def _check(arguments: argparse.Namespace) -> CommandResult:
    from strictwire.stores.files.keys import KeyUnsafe, read_public_key

    try:
        audit = read_public_key(arguments.audit_key).render() if arguments.audit_key else None
    except KeyUnsafe as exc:
        return CommandResult(exit_code=1, stderr=f"error: {exc}\n")
    with arguments.bundle.open("rb") as file:
        raw = file.read(MAX_BUNDLE + 1)
    return run_check(raw, TrustedKeys(workspace=arguments.workspace_key, audit=audit))
