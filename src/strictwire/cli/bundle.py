"""`strictwire bundle`: writes every schema of a folder as a self-contained file."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import shared

EXAMPLES: Final = """examples:
  strictwire bundle                                 read schemas/, write build/schemas/tools
  strictwire bundle contracts --out dist/schemas

exit codes: 0 success, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "source", nargs="?", default="schemas", metavar="DIR", help="folder of schema files (default: %(default)s)"
    )
    parser.add_argument("--out", default="build/schemas/tools", metavar="DIR", help="output folder (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Write the self-contained schemas."""
    from strictwire.sources.verbs.files import BundleOptions, run_bundle

    return shared.print_result("bundle", run_bundle(BundleOptions(source=arguments.source, out=arguments.out)))
