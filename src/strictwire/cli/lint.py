"""`strictwire lint`: checks the contracts of tools."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from strictwire.cli import shared

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

EXAMPLES: Final = f"""examples:
  strictwire lint                                   check the schema files in schemas/
  strictwire lint --stdio 'npx -y some-server'      check the tools of any server
  strictwire lint --select correct,clients,security --format sarif
  strictwire lint --select CLIENT_NAME,STRICT --ignore TEXT_SHORT --statistics
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
    shared.add_report(parser)
    shared.add_rules(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check and report."""
    return shared.run_with_settings("lint", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.policy import parse_policy
    from strictwire.sources.verbs.lint import LintOptions, run_lint

    options = LintOptions(
        source=shared.source_of("lint", arguments),
        policy=parse_policy(shared.policy_table(arguments, "lint", "category")),
        output=shared.output_of(arguments),
        live=shared.live_of(arguments),
        changed_since=arguments.changed_since,
    )
    return run_lint(options, shared.show_progress)
