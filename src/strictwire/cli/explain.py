"""`strictwire explain CODE`: what a failure code means in every dialect, and what to do."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from strictwire.fault.explain import UnknownCode, explain, render_explanation

EXAMPLES: Final = """examples:
  strictwire explain PLAN_NOT_APPROVED
  strictwire explain cache_missing
  strictwire explain -- -32602
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("code", metavar="CODE", help="a code in any dialect's spelling, also a number")


def run(arguments: argparse.Namespace) -> int:
    """Print the meaning; 2 for a code that nobody has, with the nearest one."""
    try:
        print(render_explanation(explain(arguments.code)))
    except UnknownCode as exc:
        print(f"strictwire explain: {exc}", file=sys.stderr)
        return 2
    return 0
