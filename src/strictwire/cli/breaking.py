"""`strictwire breaking`: reports contract changes that break callers or change what models read."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from strictwire.cli import shared
from strictwire.cli.progress import show_progress

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

EXAMPLES: Final = f"""examples:
  strictwire breaking --against git:main
  strictwire breaking --against strictwire.lock --http http://127.0.0.1:8808/mcp
  strictwire breaking --against git:main --fail-on model      also fail if a description changed
  strictwire breaking new-tools.json --against old-tools.json --format github

{shared.SOURCES}
exit codes: 0 compatible, 100 findings, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_source(parser)
    parser.add_argument(
        "--against", required=True, metavar="SOURCE", help="source of the old contracts, which callers rely on"
    )
    parser.add_argument(
        "--semantics",
        choices=("declared", "exact"),
        help="declared: do the declared properties stay? exact: strict inclusion of sets of JSON values (default: declared)",
    )
    parser.add_argument(
        "--fail-on",
        choices=("caller", "reader", "model", "additive", "cosmetic"),
        help="the least grave tier of change that fails: breaks callers, breaks readers, changes what models read, adds"
        " something, changes layout (default: reader)",
    )
    shared.add_report(parser)
    shared.add_rules(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare and report."""
    return shared.run_with_settings("breaking", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.policy import parse_breaking_policy
    from strictwire.sources.verbs.breaking import BreakingOptions, run_breaking

    options = BreakingOptions(
        against=arguments.against,
        source=shared.source_of("breaking", arguments),
        policy=shared.with_file(
            parse_breaking_policy(shared.policy_table(arguments, "breaking", "semantics", "fail_on")), arguments
        ),
        output=shared.output_of(arguments),
        live=shared.live_of("breaking", arguments),
    )
    return run_breaking(options, show_progress)
