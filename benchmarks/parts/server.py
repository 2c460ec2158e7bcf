"""Calls of a small and a large tool over stdio and HTTP, both revisions, 1 and 32 in flight: strictwire and all peers."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

from benchmarks.fixture import add_calls, echo_calls
from benchmarks.matrix import Matrix, Scenario, measure, measure_all, running_servers
from benchmarks.messages import Revision
from benchmarks.parts.floors import BARE, BARE_TWO
from benchmarks.peers import ALL, BENCH, OURS, OURS_SYNC, OURS_TWO, PEERS, SDK_HIGH, SDK_LOW, TYPESCRIPT_V1, Contender
from benchmarks.results import Effort, Goal, PartResult, Summary, Table, at_least, at_most, compare_rounds, not_measured

ADD: Final = "add"
ECHO: Final = "echo 10 KB"
MANY: Final = 32


def scenarios() -> list[Scenario]:
    """The measured scenarios."""
    calls = {ADD: add_calls(), ECHO: echo_calls()}
    return [Scenario(name=name, expected_calls=calls[name], in_flight=count) for name in calls for count in (1, MANY)]


def run(effort: Effort) -> PartResult:
    """Measure and compare."""
    syncs = [fdatasync_microseconds()]
    matrix = measure_all(ALL, [[each] for each in scenarios()], effort, Matrix())
    syncs.append(fdatasync_microseconds())
    workers = two_workers(effort, matrix)
    syncs.append(fdatasync_microseconds())
    sync = statistics.median(syncs)  # measured several times because the latency of the disk varies during the run
    note = f"Median fdatasync of 200 bytes in this run: {sync:.0f} us. " + "; ".join(matrix.errors)
    return PartResult(part="server", tables=[_rates(matrix, note), _costs(matrix)], goals=[*goals(matrix, sync), workers])


def two_workers(effort: Effort, matrix: Matrix) -> Goal:
    """The cost of a second worker process: small calls over 32 connections, with one worker and with two.

    With two workers, each has half of the connections, so fewer calls share a turn of the event loop and a write, and the
    load generator competes for the same cores. For comparison, also measured: 32 connections per worker, and a bare
    asyncio server with two processes.
    """
    asked = [Scenario(name=ADD, expected_calls=add_calls(), in_flight=count) for count in (MANY, 2 * MANY)]
    with running_servers([OURS, OURS_TWO, BARE, BARE_TWO], [Revision.LEGACY], http=True, matrix=matrix) as channels:
        measured = measure(channels, asked, effort, matrix, http=True)
    found = {(key.contender, key.in_flight): each for key, each in measured.items()}
    text = "CPU time per call with two worker processes relative to one"
    asked_of = ((OURS, MANY), (OURS_TWO, MANY), (OURS_TWO, 2 * MANY), (BARE, MANY), (BARE_TWO, MANY))
    one, two, more, bare, bare_two = (found.get((who.name, count)) for who, count in asked_of)
    if one is None or two is None or more is None or bare is None or bare_two is None:
        return not_measured(text, "a server did not run")
    detail = (
        f" ({two.cpu:.0f} us versus {one.cpu:.0f} us; {compare_rounds(more.cpus, one.cpus):.2f} with 32 connections each;"
        f" asyncio and msgspec only {compare_rounds(bare_two.cpus, bare.cpus):.2f})"
    )
    return at_most(text, 1.15, compare_rounds(two.cpus, one.cpus), detail)


def fdatasync_microseconds(times: int = 100) -> float:
    """The median time to sync 200 bytes to this disk."""
    with tempfile.NamedTemporaryFile(dir=BENCH) as file:
        taken = []
        for _ in range(times):
            os.write(file.fileno(), b"x" * 200)
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e6


COLUMNS: Final = tuple((http, scenario, count) for http in (False, True) for scenario in (ADD, ECHO) for count in (1, MANY))


def _title(http: bool, scenario: str, count: int) -> str:
    return f"{'HTTP' if http else 'stdio'} {scenario}, {count}"


def _table(matrix: Matrix, title: str, note: str, show: Callable[[Summary], str]) -> Table:
    rows = []
    for contender in ALL:
        for revision in contender.revisions:
            by_column = {(key.http, key.scenario, key.in_flight): summary for key, summary in matrix.found.items()
                         if (key.contender, key.revision) == (contender.name, revision)}  # fmt: skip
            shown = [show(by_column[column]) if column in by_column else "-" for column in COLUMNS]
            rows.append([contender.title, str(revision), contender.checks, *shown])
    return Table(
        title=title, columns=["server", "revision", "checks", *(_title(*column) for column in COLUMNS)], rows=rows, note=note
    )


def _rates(matrix: Matrix, note: str) -> Table:
    return _table(
        matrix, "Calls per second (median latency in us)", note, lambda found: f"{found.rate:,.0f} ({found.p50:,.0f})"
    )


def _costs(matrix: Matrix) -> Table:
    note = "Less affected by other work on the machine than rates. In brackets: how busy the load generator was (maximum 1)."
    return _table(matrix, "CPU time of the server, us per call", note, lambda found: f"{found.cpu:,.0f} ({found.busy:.2f})")


class Compare:
    """Ratios within the same rounds between our slower revision and the faster one of the peers."""

    def __init__(self, matrix: Matrix) -> None:
        self._cells = matrix

    def find(self, who: Sequence[Contender], *, http: bool, scenario: str, count: int) -> list[Summary]:
        """All summaries of the given contenders."""
        return [
            summary
            for contender in who
            for summary in self._cells.of(http=http, scenario=scenario, in_flight=count, contender=contender.name)
        ]

    def rate(
        self, text: str, wanted: float, who: Sequence[Contender], *, http: bool, scenario: str, count: int = MANY
    ) -> Goal:
        """The goal for our calls per second relative to the fastest of the given contenders."""
        ours = self.find([OURS], http=http, scenario=scenario, count=count)
        theirs = self.find(who, http=http, scenario=scenario, count=count)
        if not ours or not theirs:
            return at_least(text, wanted, None)
        mine, other = min(ours, key=_by_rate), max(theirs, key=_by_rate)
        cpu = compare_rounds(other.cpus, mine.cpus)
        return at_least(text, wanted, compare_rounds(mine.rates, other.rates), f" (by CPU time {cpu:.2f})")

    def latency(self, text: str, ours: Contender, extra: float) -> Goal:
        """The goal for our median latency with one connection relative to the fastest peer, plus `extra` microseconds."""
        mine = self.find([ours], http=True, scenario=ADD, count=1)
        theirs = self.find(PEERS, http=True, scenario=ADD, count=1)
        if not mine or not theirs:
            return at_most(text, 1 / 3, None)
        best, worst = min(theirs, key=_by_latency), max(mine, key=_by_latency)
        share = compare_rounds(worst.p50s, best.p50s)
        return at_most(text, 1 / 3 + extra / best.p50, share, f" ({worst.p50:,.0f} us versus {best.p50:,.0f} us)")


_by_rate = attrgetter("rate")
_by_latency = attrgetter("p50")


def goals(matrix: Matrix, sync: float) -> list[Goal]:
    """The goals of this part."""
    compare = Compare(matrix)
    sdk = (SDK_LOW, SDK_HIGH)
    return [
        compare.rate("stdio add, 32 in flight, relative to the official Python SDK", 20, sdk, http=False, scenario=ADD),
        compare.rate(
            "stdio add, 32 in flight, relative to TypeScript SDK v1 low level", 1, [TYPESCRIPT_V1], http=False, scenario=ADD
        ),
        compare.rate(
            "HTTP add, 32 connections, relative to the Python SDK low level", 8, [SDK_LOW], http=True, scenario=ADD
        ),
        compare.rate("HTTP add, 32 connections, relative to the fastest peer", 5, PEERS, http=True, scenario=ADD),
        compare.latency("HTTP add, 1 connection, p50 relative to the fastest peer", OURS, 0.0),
        compare.latency(
            "the same with audit sync; the bound includes one median fdatasync",
            OURS_SYNC,
            sync,
        ),
        compare.rate("stdio 10 KB, 32 in flight, relative to the official Python SDK", 5, sdk, http=False, scenario=ECHO),
        compare.rate("HTTP 10 KB, 32 connections, relative to the official Python SDK", 5, sdk, http=True, scenario=ECHO),
        compare.rate("HTTP 10 KB, 32 connections, relative to the fastest peer", 3, PEERS, http=True, scenario=ECHO),
        compare.rate(
            "stdio 10 KB, 32 in flight, relative to TypeScript SDK v1 low level",
            1.5,
            [TYPESCRIPT_V1],
            http=False,
            scenario=ECHO,
        ),
    ]
