"""Instructions a call: against the baseline, against the number of tools and against the length of the audit log."""

from __future__ import annotations

import shutil
from typing import Final

from benchmarks.instructions import SCENARIOS, WARM, Scenario, counting, counts, read_baseline
from benchmarks.results import Effort, Found, Goal, Table, at_most

ADD: Final = SCENARIOS[0]
FEW_TOOLS: Final = 10
MANY_TOOLS: Final = 10_000
LOG: Final = 3_000
"""Calls between the two looks at a growing log."""


def run(_effort: Effort) -> Found:
    """Count; without Valgrind on this machine there is nothing to tell."""
    if shutil.which("valgrind") is None:
        goal = Goal(text="instructions a call", wanted="≤ 1.05", found="no valgrind on this machine", reached=None)
        return Found(part="instructions", goals=[goal])
    baseline, found = read_baseline(), counts(SCENARIOS)
    early, late = _growing_log(ADD)
    few, many = (counts([ADD], tools=tools)[ADD.name] for tools in (FEW_TOOLS, MANY_TOOLS))
    rows = [[name, f"{count:,}", f"{baseline[name]:,}" if name in baseline else "-"] for name, count in found.items()]
    rows += [
        [f"add, {FEW_TOOLS:,} tools", f"{few:,}", "-"],
        [f"add, {MANY_TOOLS:,} tools", f"{many:,}", "-"],
        [f"add, log of {WARM:,} records", f"{early:,}", "-"],
        [f"add, log of {WARM + LOG:,} records", f"{late:,}", "-"],
    ]
    table = Table(title="Instructions a call, stdio, one in flight", columns=["call", "now", "baseline"], rows=rows)
    goals = [
        at_most(f"instructions a call, {MANY_TOOLS:,} tools against {FEW_TOOLS}", 1.05, many / few),
        at_most("instructions a call, long log against short", 1.05, late / early),
        *(
            at_most(f"instructions, {name}, against the baseline", 1.05, found[name] / baseline[name])
            for name in found
            if name in baseline
        ),
    ]
    return Found(part="instructions", tables=[table], goals=goals)


def _growing_log(scenario: Scenario) -> tuple[int, int]:
    with counting() as counter:
        counter.answer(scenario, WARM)
        early = counter.count(scenario)
        counter.answer(scenario, LOG)
        return early, counter.count(scenario)
