"""Calls that are refused, and bytes that are no message, against calls that are accepted.

Ours only: peers on stdio do not answer bytes that are not JSON, and the low levels refuse nothing.
"""

from __future__ import annotations

from typing import Final

from benchmarks.field import Cells, Scenario, survey
from benchmarks.fixture import add_questions, refused_questions
from benchmarks.peers import OURS
from benchmarks.results import Effort, Found, Goal, Table, at_least, compare_rounds

ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
GARBAGE: Final = "not JSON"
MANY: Final = 32


def run(effort: Effort) -> Found:
    """Measure and compare."""
    scenarios = [
        Scenario(name=ACCEPTED, questions=add_questions(), in_flight=MANY),
        Scenario(name=REFUSED, questions=refused_questions(), in_flight=MANY),
        Scenario(name=GARBAGE, questions=None, in_flight=MANY),
    ]
    cells = survey([OURS], [scenarios], effort, Cells())
    rows = [
        ["HTTP" if key.http else "stdio", str(key.wire), key.scenario, f"{each.rate:,.0f}", f"{each.cpu:,.0f}"]
        for key, each in cells.found.items()
    ]
    table = Table(
        title="Calls of `add` with good arguments, with arguments that break its schema twice, and cut off in the middle",
        columns=["transport", "wire", "what", "a second", "CPU us"],
        rows=rows,
        note="; ".join(cells.troubles),
    )
    goals = [
        _goal(cells, http=http, scenario=scenario, wanted=wanted)
        for http in (False, True)
        for scenario, wanted in ((REFUSED, 0.5), (GARBAGE, 1.0))
    ]
    return Found(part="refusals", tables=[table], goals=goals)


def _goal(cells: Cells, *, http: bool, scenario: str, wanted: float) -> Goal:
    ratios = [
        (compare_rounds(summary.rates, accepted.rates), compare_rounds(accepted.cpus, summary.cpus))
        for summary, accepted in zip(
            cells.of(http=http, scenario=scenario, in_flight=MANY, contender=OURS.name),
            cells.of(http=http, scenario=ACCEPTED, in_flight=MANY, contender=OURS.name),
            strict=False,
        )
    ]
    text = f"{'HTTP' if http else 'stdio'}, {scenario}, times an accepted call"
    if not ratios:
        return at_least(text, wanted, None)
    return at_least(text, wanted, min(rate for rate, _ in ratios), f" (by CPU time {min(cpu for _, cpu in ratios):.2f})")
