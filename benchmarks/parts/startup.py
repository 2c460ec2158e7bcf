"""The time from the start of a process to its first response."""

from __future__ import annotations

import statistics
import time
from typing import Final

from benchmarks.drive import Connection, Pipes, Stalled
from benchmarks.messages import Revision
from benchmarks.peers import OURS, PEERS, SDK_HIGH, SDK_LOW, Contender
from benchmarks.process import NotStarted
from benchmarks.results import Effort, Goal, PartResult, Table, at_most

STARTS: Final = 3


def run(effort: Effort) -> PartResult:
    """Measure and compare; rounds alternate between the contenders."""
    contenders = (OURS, *PEERS)
    taken: dict[tuple[str, bool], list[float]] = {}
    errors: list[str] = []
    for _ in range(max(STARTS, effort.rounds)):
        for contender in contenders:
            for http in (False, True):
                try:
                    taken.setdefault((contender.name, http), []).append(milliseconds(contender, http=http))
                except (NotStarted, Stalled, OSError) as exc:
                    errors.append(f"{contender.name}: {exc}")
    medians = {key: statistics.median(times) for key, times in taken.items()}
    rows = [
        [each.title, *(f"{medians.get((each.name, http), float('nan')):,.0f}" for http in (False, True))]
        for each in contenders
    ]
    table = Table(
        title="Start of the process to the response to `initialize`, ms",
        columns=["server", "stdio", "HTTP"],
        rows=rows,
        note="; ".join(errors),
    )
    return PartResult(part="startup", tables=[table], goals=[_goal(medians, http) for http in (False, True)])


def milliseconds(contender: Contender, *, http: bool) -> float:
    """The time of one start."""
    with contender.serve(http=http) as running:
        if http:
            Connection(running.port, "/mcp", Revision.LEGACY).close()
        else:
            Pipes(running, Revision.LEGACY)
        return (time.perf_counter() - running.started) * 1000


def _goal(medians: dict[tuple[str, bool], float], http: bool) -> Goal:
    text = f"{'HTTP' if http else 'stdio'}, start to first response, relative to the faster official Python server"
    theirs = [medians[name, http] for name in (SDK_LOW.name, SDK_HIGH.name) if (name, http) in medians]
    ours = medians.get((OURS.name, http))
    return at_most(text, 0.5, ours / min(theirs) if ours and theirs else None)
