"""`strictwire workspace`: what there is to know of a governed workspace."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from strictwire.cli.plan import place_of, write
from strictwire.packs.workspace.verbs import guarded, run_status

EXAMPLES: Final = """examples:
  strictwire workspace status
  strictwire workspace status --root ~/projects/one

exit codes: 0 fine, 100 a crash left files behind, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The verbs and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=type(parser))
    status = verbs.add_parser("status", help="plans, reports, and what a crash left behind", allow_abbrev=False)
    status.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="the workspace (default: here)")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb and write what it gives."""
    return write(guarded(lambda: run_status(place_of(arguments.root))))
