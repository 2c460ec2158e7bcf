"""`strictwire breaking`: what a change of contracts does to those who use them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from strictwire.cli import sourcing

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

EXAMPLES: Final = f"""examples:
  strictwire breaking --against git:main
  strictwire breaking --against strictwire.lock --http http://127.0.0.1:8808/mcp
  strictwire breaking new-tools.json --against old-tools.json --format github

{sourcing.SOURCES}
exit codes: 0 nothing breaks, 100 findings, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    sourcing.add_source(parser)
    parser.add_argument("--against", required=True, metavar="SOURCE", help="the contracts that callers know")
    sourcing.add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare and report."""
    return sourcing.run_judging("breaking", lambda: _judge(arguments))


def _judge(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.policy import parse_policy
    from strictwire.sources.verbs.breaking import BreakingOptions, run_breaking

    options = BreakingOptions(
        against=arguments.against,
        source=sourcing.source_of(arguments),
        policy=parse_policy(sourcing.read_table(arguments, "breaking")),
        output_format=sourcing.format_of(arguments),
    )
    return run_breaking(options, sourcing.show_progress)
