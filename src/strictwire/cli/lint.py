"""`strictwire lint`: checks the contracts of tools."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from strictwire.cli import shared
from strictwire.cli.progress import show_progress

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

EXAMPLES: Final = f"""examples:
  strictwire lint                                   check the schema files in schemas/
  strictwire lint --stdio 'npx -y some-server'      check the tools of any server
  strictwire lint client:cursor client:claude-code  check every server of two clients, in one report
  strictwire lint --select correct,clients,security --format sarif
  strictwire lint --select CLIENT_NAME,STRICT --ignore TEXT_SHORT --statistics
  strictwire lint --category seed --diff            show what --fix would change in schemas/
  strictwire lint --changed-since main              require docs and tests for each changed schema

{shared.SOURCES}
exit codes: 0 no findings, 100 findings, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_source(parser)
    parser.add_argument(
        "--category",
        choices=("correct", "clients", "agents", "security", "seed", "MINIMAL", "BASIC", "STANDARD", "STRICT"),
        help="what to check (default: lint.category, or correct); for several, use --select correct,security",
    )
    parser.add_argument(
        "--changed-since", metavar="REF", help="also check that schema changes since this commit have docs and tests"
    )
    fixes = parser.add_mutually_exclusive_group()
    fixes.add_argument("--fix", action="store_true", help="mend schema files where the fix is certain, then check")
    fixes.add_argument("--diff", action="store_true", help="show what --fix would change, write nothing")
    shared.add_report(parser)
    shared.add_rules(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check and report."""
    return shared.run_with_settings("lint", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.policy import parse_policy
    from strictwire.sources.verbs.fix import run_diff, run_fix
    from strictwire.sources.verbs.lint import LintOptions, run_lint

    options = LintOptions(
        source=shared.source_of("lint", arguments),
        policy=shared.with_file(parse_policy(shared.policy_table(arguments, "lint", "category")), arguments),
        output=shared.output_of(arguments),
        live=shared.live_of("lint", arguments),
        changed_since=arguments.changed_since,
    )
    if arguments.diff:
        return run_diff(options)
    return (run_fix if arguments.fix else run_lint)(options, show_progress)
