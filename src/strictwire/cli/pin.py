"""`strictwire pin`: writes the lock file of all contracts, or checks tools against it."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import shared

EXAMPLES: Final = f"""examples:
  strictwire pin                                    write strictwire.lock from schemas/
  strictwire pin --stdio 'npx -y some-server'       pin the tools of any server
  strictwire pin --check                            exit with 100 if a tool differs from its pin

{shared.SOURCES}
exit codes: 0 success, 100 a tool differs from its pin, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_source(parser)
    parser.add_argument("--check", action="store_true", help="compare with the lock file, write nothing")
    parser.add_argument("--lock", default="strictwire.lock", metavar="FILE", help="the lock file (default: %(default)s)")
    shared.add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write or check the lock file."""
    from strictwire.sources.verbs.pin import PinOptions, run_pin, run_pin_check
    from strictwire.sources.verbs.result import Output

    options = PinOptions(
        source=shared.source_of("pin", arguments),
        lock=arguments.lock,
        output=Output(output_format=shared.format_of(arguments), files=dict(arguments.report)),
        live=shared.live_of("pin", arguments),
    )
    return shared.print_result("pin", run_pin_check(options) if arguments.check else run_pin(options))
