"""`strictwire freeze`: writes schema files for tools defined by type hints, or for any other source."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
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

    if arguments.source and ":" in arguments.source and not Path(arguments.source).exists():
        return _freeze_server(arguments)
    options = FreezeOptions(source=shared.source_of(arguments), out=arguments.out, live=shared.live_of(arguments))
    return shared.print_result("freeze", run_freeze(options))


def _freeze_server(arguments: argparse.Namespace) -> int:
    from strictwire.cli.serve import load_server
    from strictwire.server.run import StartRefused
    from strictwire.sources.refused import SourceRefused
    from strictwire.sources.verbs.files import freeze_contracts

    try:
        server = load_server(arguments.source)
        written = freeze_contracts(server.catalog.offers.registry.tools.values(), Path(arguments.out))
    except (ValueError, StartRefused) as exc:
        print(f"strictwire freeze: {exc}", file=sys.stderr)
        return shared.USAGE
    except SourceRefused as exc:
        print(f"strictwire freeze: {exc}", file=sys.stderr)
        return 1
    print(f"wrote {len(written)} files to {arguments.out}")
    return 0
