"""`strictwire lint`: judge the contracts of tools."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from strictwire.cli import sourcing

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

EXAMPLES: Final = f"""examples:
  strictwire lint                                   the schema files in schemas/
  strictwire lint --stdio 'npx -y some-server'      any server
  strictwire lint --category STRICT --format sarif
  strictwire lint --changed-since main              a changed schema needs its contract row and a test

{sourcing.SOURCES}
exit codes: 0 clean, 100 findings, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    sourcing.add_source(parser)
    parser.add_argument("--category", choices=("MINIMAL", "BASIC", "STANDARD", "STRICT"), help="how much to ask")
    parser.add_argument("--changed-since", metavar="REF", help="also judge whether the change since this commit is complete")
    sourcing.add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge and report."""
    return sourcing.run_judging("lint", lambda: _judge(arguments))


def _judge(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.policy import parse_policy
    from strictwire.sources.verbs.lint import LintOptions, run_lint

    table = dict(sourcing.read_table(arguments, "lint"))
    if arguments.category:
        table["category"] = arguments.category
    options = LintOptions(
        source=sourcing.source_of(arguments),
        policy=parse_policy(table),
        output_format=sourcing.format_of(arguments),
        changed_since=arguments.changed_since,
    )
    return run_lint(options, sourcing.show_progress)
