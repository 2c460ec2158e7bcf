"""`strictwire ci`: runs lint, breaking and pin --check, with one report and one exit code."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Final

from strictwire.cli import shared
from strictwire.cli.progress import show_progress

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

EXAMPLES: Final = f"""examples:
  strictwire ci                                     lint, and pin --check if there is a strictwire.lock
  strictwire ci --base origin/main                  also report what breaks callers since that commit
  strictwire ci --base origin/main --format github --report sarif=strictwire.sarif
  strictwire ci --stdio 'npx -y some-server' --base old-tools.json

Without --base, the base is that of the pull request: $GITHUB_BASE_REF, or $CI_MERGE_REQUEST_DIFF_BASE_SHA.
The tools are read once. A check that cannot run does not stop the others.

{shared.SOURCES}
exit codes: 0 no findings, 100 findings, 1 a check could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_source(parser)
    parser.add_argument("--base", metavar="REF", help="git ref, or another source, with the contracts that callers rely on")
    parser.add_argument("--lock", default="strictwire.lock", metavar="FILE", help="the lock file (default: %(default)s)")
    shared.add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check and report."""
    return shared.run_with_settings("ci", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.policy import parse_breaking_policy, parse_policy
    from strictwire.sources.verbs.ci import CiOptions, run_ci
    from strictwire.sources.verbs.result import Output

    options = CiOptions(
        source=shared.source_of("ci", arguments),
        lint=shared.with_file(parse_policy(shared.read_table(arguments, "lint")), arguments),
        breaking=shared.with_file(parse_breaking_policy(shared.read_table(arguments, "breaking")), arguments),
        base=_base(arguments),
        lock=arguments.lock,
        output=Output(output_format=shared.format_of(arguments), files=dict(arguments.report)),
        live=shared.live_of("ci", arguments),
    )
    return run_ci(options, show_progress)


def _base(arguments: argparse.Namespace) -> str:
    """The base that the user names, or that of the pull request in GitHub Actions or GitLab CI; empty if there is none."""
    branch = os.environ.get("GITHUB_BASE_REF")
    of_request = f"origin/{branch}" if branch else os.environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "")
    return str(arguments.base or of_request)
