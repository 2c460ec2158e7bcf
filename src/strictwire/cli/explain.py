"""`strictwire explain CODE`: explains a failure code in every dialect, and what to do about it."""

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
    """Add the options."""
    parser.add_argument("code", metavar="CODE", help="a failure code or number, as any dialect spells it")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation. Returns 2 for an unknown code, with the closest match as a hint."""
    try:
        print(render_explanation(explain(arguments.code)))
    except UnknownCode as exc:
        print(f"strictwire explain: {exc}", file=sys.stderr)
        return 2
    return 0
