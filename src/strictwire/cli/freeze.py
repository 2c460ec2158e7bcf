"""`strictwire freeze`: schema files from tools whose contracts are type hints, or from any other source."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from strictwire.cli import sourcing

EXAMPLES: Final = f"""examples:
  strictwire freeze my_module:server                a strictwire.Server of your own
  strictwire freeze --http http://127.0.0.1:8808/mcp --out schemas/tools

{sourcing.SOURCES}
exit codes: 0 fine, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    sourcing.add_source(parser)
    parser.add_argument("--out", default="schemas/tools", metavar="DIR", help="where the files go (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Write what has changed."""
    from strictwire.sources.verbs.files import FreezeOptions, run_freeze

    if arguments.source and ":" in arguments.source and not Path(arguments.source).exists():
        return _freeze_server(arguments)
    options = FreezeOptions(source=sourcing.source_of(arguments), out=arguments.out)
    return sourcing.write_outcome("freeze", run_freeze(options))


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
        return sourcing.USAGE
    except SourceRefused as exc:
        print(f"strictwire freeze: {exc}", file=sys.stderr)
        return 1
    print(f"wrote {len(written)} files to {arguments.out}")
    return 0
