"""`strictwire pin`: write down what every tool promises, and check that it still does."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import sourcing

EXAMPLES: Final = f"""examples:
  strictwire pin                                    writes strictwire.lock from schemas/
  strictwire pin --stdio 'npx -y some-server'
  strictwire pin --check                            exit 100 if a tool is not as it was pinned

{sourcing.SOURCES}
exit codes: 0 fine, 100 a tool has changed, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    sourcing.add_source(parser)
    parser.add_argument("--check", action="store_true", help="compare with the lock file and write nothing")
    parser.add_argument("--lock", default="strictwire.lock", metavar="FILE", help="the lock file (default: %(default)s)")
    parser.add_argument("--format", choices=sourcing.FORMATS, default="text")


def run(arguments: argparse.Namespace) -> int:
    """Pin or check."""
    from strictwire.sources.verbs.pin import PinOptions, run_pin, run_pin_check

    options = PinOptions(
        source=sourcing.source_of(arguments), lock=arguments.lock, output_format=sourcing.format_of(arguments)
    )
    return sourcing.write_outcome("pin", run_pin_check(options) if arguments.check else run_pin(options))
