"""Refused calls and malformed bytes, compared with accepted calls.

Only strictwire: peers do not respond to malformed bytes on stdio, and low-level servers refuse nothing.
"""

from __future__ import annotations

from typing import Final

from benchmarks.fixture import add_calls, refused_calls
from benchmarks.matrix import Matrix, Scenario, measure_all
from benchmarks.peers import OURS
from benchmarks.results import Effort, Goal, PartResult, Table, at_least, compare_rounds

ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
GARBAGE: Final = "not JSON"
MANY: Final = 32


def run(effort: Effort) -> PartResult:
    """Measure and compare."""
    scenarios = [
        Scenario(name=ACCEPTED, expected_calls=add_calls(), in_flight=MANY),
        Scenario(name=REFUSED, expected_calls=refused_calls(), in_flight=MANY),
        Scenario(name=GARBAGE, expected_calls=None, in_flight=MANY),
    ]
    matrix = measure_all([OURS], [scenarios], effort, Matrix())
    rows = [
        ["HTTP" if key.http else "stdio", str(key.revision), key.scenario, f"{each.rate:,.0f}", f"{each.cpu:,.0f}"]
        for key, each in matrix.found.items()
    ]
    table = Table(
        title="Calls of `add` with valid arguments, with arguments that violate its schema twice, and truncated JSON",
        columns=["transport", "revision", "call", "per second", "CPU us"],
        rows=rows,
        note="; ".join(matrix.errors),
    )
    goals = [
        _goal(matrix, http=http, scenario=scenario, wanted=wanted)
        for http in (False, True)
        for scenario, wanted in ((REFUSED, 0.5), (GARBAGE, 1.0))
    ]
    return PartResult(part="refusals", tables=[table], goals=goals)


def _goal(matrix: Matrix, *, http: bool, scenario: str, wanted: float) -> Goal:
    ratios = [
        (compare_rounds(summary.rates, accepted.rates), compare_rounds(accepted.cpus, summary.cpus))
        for summary, accepted in zip(
            matrix.of(http=http, scenario=scenario, in_flight=MANY, contender=OURS.name),
            matrix.of(http=http, scenario=ACCEPTED, in_flight=MANY, contender=OURS.name),
            strict=False,
        )
    ]
    text = f"{'HTTP' if http else 'stdio'}, {scenario}, rate relative to accepted calls"
    if not ratios:
        return at_least(text, wanted, None)
    return at_least(text, wanted, min(rate for rate, _ in ratios), f" (by CPU time {min(cpu for _, cpu in ratios):.2f})")
