"""Instructions per call: compared with the baseline, and by number of tools and length of the audit log."""

from __future__ import annotations

import shutil
from typing import Final

from benchmarks.drive import Stalled
from benchmarks.instructions import SCENARIOS, SECONDS, WARM, Scenario, counting, counts, read_baseline
from benchmarks.results import Effort, Goal, PartResult, Table, at_most, not_measured

ADD: Final = SCENARIOS[0]
TOOLS: Final = (10, 1_000, 10_000)
LOG: Final = 3_000
"""Calls between the two counts with a growing log."""

BOUND: Final = 1.05


def run(_effort: Effort) -> PartResult:
    """Count the instructions. Without Valgrind, the result is a goal that was not measured."""
    if shutil.which("vgdb") is None:
        return PartResult(part="instructions", goals=[not_measured("instructions per call", "valgrind is not installed")])
    baseline, found = read_baseline(), counts(SCENARIOS)
    early, late = _growing_log(ADD)
    by_tools = {tools: _with_tools(tools) for tools in TOOLS}
    rows = [[name, f"{count:,}", f"{baseline[name]:,}" if name in baseline else "-"] for name, count in found.items()]
    rows += [[f"add, log of {length:,} records", f"{count:,}", "-"] for length, count in ((WARM, early), (WARM + LOG, late))]
    rows += [[f"add, {tools:,} tools", "-" if count is None else f"{count:,}", "-"] for tools, count in by_tools.items()]
    table = Table(title="Instructions per call, stdio, one in flight", columns=["call", "now", "baseline"], rows=rows)
    goals = [
        *(_tools_goal(by_tools[TOOLS[0]], tools, by_tools[tools]) for tools in TOOLS[1:]),
        at_most("instructions per call, long log relative to short", BOUND, late / early),
        *(
            at_most(f"instructions, {name}, relative to the baseline", BOUND, found[name] / baseline[name])
            for name in found
            if name in baseline
        ),
    ]
    return PartResult(part="instructions", tables=[table], goals=goals)


def _with_tools(tools: int) -> int | None:
    try:
        return counts([ADD], tools=tools)[ADD.name]
    except Stalled:
        return None


def _tools_goal(few: int | None, tools: int, many: int | None) -> Goal:
    text = f"instructions per call, {tools:,} tools relative to {TOOLS[0]}"
    if few is None or many is None:
        return not_measured(text, f"the server did not start within {SECONDS:.0f} s under Valgrind")
    return at_most(text, BOUND, many / few)


def _growing_log(scenario: Scenario) -> tuple[int, int]:
    with counting() as counter:
        counter.call(scenario, WARM)
        early = counter.count(scenario)
        counter.call(scenario, LOG)
        return early, counter.count(scenario)
