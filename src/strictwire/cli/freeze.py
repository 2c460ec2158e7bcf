"""`strictwire freeze`: writes schema files for tools defined by type hints, or for any other source."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import shared

EXAMPLES: Final = f"""examples:
  strictwire freeze my_module:server                the tools of your own strictwire.Server
  strictwire freeze --http http://127.0.0.1:8808/mcp --out schemas/tools

{shared.SOURCES}
exit codes: 0 success, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_source(parser)
    parser.add_argument("--out", default="schemas/tools", metavar="DIR", help="output folder (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Write the schema files that changed."""
    from strictwire.sources.verbs.files import FreezeOptions, run_freeze

    options = FreezeOptions(
        source=shared.source_of("freeze", arguments), out=arguments.out, live=shared.live_of("freeze", arguments)
    )
    return shared.print_result("freeze", run_freeze(options))
