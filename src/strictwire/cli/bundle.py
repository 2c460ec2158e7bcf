"""`strictwire bundle`: every schema of a folder with what it refers to inside it."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import sourcing

EXAMPLES: Final = """examples:
  strictwire bundle                                 from schemas to build/schemas/tools
  strictwire bundle contracts --out dist/schemas

exit codes: 0 fine, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "source", nargs="?", default="schemas", metavar="DIR", help="the schema files (default: %(default)s)"
    )
    parser.add_argument("--out", default="build/schemas/tools", metavar="DIR", help="where they go (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Write the self-contained schemas."""
    from strictwire.sources.verbs.files import BundleOptions, run_bundle

    return sourcing.write_outcome("bundle", run_bundle(BundleOptions(source=arguments.source, out=arguments.out)))
