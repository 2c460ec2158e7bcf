"""`strictwire explain CODE`: explains a failure code in every dialect, a rule or a probe, and what to do about it."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import TYPE_CHECKING, Final

from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.lint import RULES as LINT
from strictwire.check.render.rules import render_rule
from strictwire.check.reported import REPORTED
from strictwire.check.rule import Rule
from strictwire.fault.explain import UnknownCode, explain, render_explanation

if TYPE_CHECKING:
    from strictwire.probe.record import Description

EXAMPLES: Final = """examples:
  strictwire explain PLAN_NOT_APPROVED
  strictwire explain cache_missing
  strictwire explain -- -32602
  strictwire explain ARGUMENT_KEPT
  strictwire explain JSON_TRUNCATED
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "code",
        metavar="CODE",
        help="a failure code or number, as any dialect spells it; a rule of lint, breaking or pin; or a probe",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation. Returns 2 for an unknown code, with the closest match as a hint."""
    rule = _rules().get(arguments.code.upper())
    if rule is not None:
        print(render_rule(rule), end="")
        return 0
    probe = _probes().get(arguments.code.upper())
    if probe is not None:
        print(f"{probe.id}\n\n{probe.purpose}\n\n- expected: {probe.expected}\n- why: {probe.why}")
        return 0
    try:
        print(render_explanation(explain(arguments.code)))
    except UnknownCode as exc:
        near = difflib.get_close_matches(arguments.code.upper(), [*_rules(), *_probes()], n=1)
        hint = f" (or {'the rule' if near[0] in _rules() else 'the probe'} {near[0]})" if near else ""
        print(f"strictwire explain: {exc}{hint}", file=sys.stderr)
        return 2
    return 0


def _rules() -> dict[str, Rule]:
    return {rule.id: rule for rule in (*LINT, *BREAKING, *REPORTED)}


def _probes() -> dict[str, Description]:
    # Imported here because the probes load the network stack, which no other explanation needs.
    from strictwire.probe.table import PROBES

    return {probe.id: probe.description for probe in PROBES}
