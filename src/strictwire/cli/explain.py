"""`strictwire explain CODE`: explains a failure code in every dialect, or a rule, and what to do about it."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import Final

from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.lint import RULES as LINT
from strictwire.check.render.rules import render_rule
from strictwire.check.reported import REPORTED
from strictwire.check.rule import Rule
from strictwire.fault.explain import UnknownCode, explain, render_explanation

EXAMPLES: Final = """examples:
  strictwire explain PLAN_NOT_APPROVED
  strictwire explain cache_missing
  strictwire explain -- -32602
  strictwire explain ARGUMENT_KEPT
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "code", metavar="CODE", help="a failure code or number, as any dialect spells it; or a rule of lint, breaking or pin"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation. Returns 2 for an unknown code, with the closest match as a hint."""
    rule = _rules().get(arguments.code.upper())
    if rule is not None:
        print(render_rule(rule), end="")
        return 0
    try:
        print(render_explanation(explain(arguments.code)))
    except UnknownCode as exc:
        near = difflib.get_close_matches(arguments.code.upper(), _rules(), n=1)
        hint = f" (or the rule {near[0]})" if near else ""
        print(f"strictwire explain: {exc}{hint}", file=sys.stderr)
        return 2
    return 0


def _rules() -> dict[str, Rule]:
    return {rule.id: rule for rule in (*LINT, *BREAKING, *REPORTED)}
