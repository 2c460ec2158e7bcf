"""Calls of a small and a large tool over stdio and HTTP, both revisions, 1 and 32 in flight: strictwire and all peers."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Final

from benchmarks.fixture import add_calls, echo_calls
from benchmarks.matrix import Matrix, Scenario, measure, measure_all, running_servers
from benchmarks.messages import Revision
from benchmarks.parts.floors import BARE, BARE_TWO
from benchmarks.peers import (
    ALL,
    BENCH,
    OURS,
    OURS_OFF,
    OURS_SYNC,
    OURS_TWO,
    PEERS,
    SDK_HIGH,
    SDK_LOW,
    TYPESCRIPT_V1,
    TYPESCRIPT_V2,
    Contender,
)
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
    """Compares like with like: the same revision on both sides, within the same rounds; the worst revision counts."""

    def __init__(self, matrix: Matrix) -> None:
        self._cells = matrix

    def pairs(
        self, ours: Contender, who: Sequence[Contender], *, http: bool, scenario: str, count: int, best: str
    ) -> list[tuple[Summary, Summary]]:
        """For each revision that both speak: our summary, and that of the best of the given contenders."""
        found: list[tuple[Summary, Summary]] = []
        for revision in ours.revisions:
            mine = self._find([ours], revision, http=http, scenario=scenario, count=count)
            theirs = self._find(who, revision, http=http, scenario=scenario, count=count)
            if mine and theirs:
                choose = max if best == "rate" else min
                found.append((mine[0], choose(theirs, key=attrgetter(best))))
        return found

    def _find(self, who: Sequence[Contender], revision: Revision, *, http: bool, scenario: str, count: int) -> list[Summary]:
        names = {contender.name for contender in who}
        return [
            summary
            for key, summary in self._cells.found.items()
            if key.contender in names
            and (key.revision, key.http, key.scenario, key.in_flight) == (revision, http, scenario, count)
        ]

    def rate(
        self,
        text: str,
        wanted: float,
        who: Sequence[Contender],
        *,
        http: bool,
        scenario: str,
        ours: Contender = OURS,
    ) -> Goal:
        """The goal for our calls per second, 32 in flight, relative to the fastest of the given contenders."""
        pairs = self.pairs(ours, who, http=http, scenario=scenario, count=MANY, best="rate")
        if not pairs:
            return at_least(text, wanted, None)
        ratios = [(compare_rounds(mine.rates, other.rates), mine, other) for mine, other in pairs]
        worst, mine, other = min(ratios, key=itemgetter(0))
        return at_least(text, wanted, worst, f" (by CPU time {compare_rounds(other.cpus, mine.cpus):.2f})")

    def latency(self, text: str, wanted: float) -> Goal:
        """The goal for our median latency with one connection relative to the fastest peer."""
        pairs = self.pairs(OURS, PEERS, http=True, scenario=ADD, count=1, best="p50")
        if not pairs:
            return at_most(text, wanted, None)
        ratios = [(compare_rounds(mine.p50s, other.p50s), mine, other) for mine, other in pairs]
        worst, mine, other = max(ratios, key=itemgetter(0))
        return at_most(text, wanted, worst, f" ({mine.p50:,.0f} us versus {other.p50:,.0f} us)")

    def synced_latency(self, text: str, wanted: float, sync: float, *, http: bool) -> Goal:
        """The goal for what mode `sync` adds to the median latency of `batched`, in median fdatasyncs."""
        pairs = self.pairs(OURS_SYNC, [OURS], http=http, scenario=ADD, count=1, best="p50")
        if not pairs:
            return at_most(text, wanted, None)
        synced, batched = max(pairs, key=lambda pair: pair[0].p50 - pair[1].p50)
        detail = f" ({synced.p50:,.0f} us versus {batched.p50:,.0f} us; one fdatasync {sync:,.0f} us)"
        return at_most(text, wanted, (synced.p50 - batched.p50) / sync, detail)


VALIDATING: Final = tuple(peer for peer in PEERS if peer.checks not in ("", "nothing"))
"""The peers that validate something, as strictwire always does."""


def goals(matrix: Matrix, sync: float) -> list[Goal]:
    """The goals of this part."""
    compare = Compare(matrix)
    sdk = (SDK_LOW, SDK_HIGH)
    found = [
        compare.rate("stdio add, 32 in flight, relative to the official Python SDK", 20, sdk, http=False, scenario=ADD),
        compare.rate("stdio add, 32 in flight, relative to TypeScript SDK v2", 1, [TYPESCRIPT_V2], http=False, scenario=ADD),
        compare.rate(
            "stdio add, 32 in flight, audit off, relative to TypeScript SDK v1 low level",
            1,
            [TYPESCRIPT_V1],
            http=False,
            scenario=ADD,
            ours=OURS_OFF,
        ),
        compare.rate(
            "HTTP add, 32 connections, relative to the Python SDK low level", 8, [SDK_LOW], http=True, scenario=ADD
        ),
        compare.rate("HTTP add, 32 connections, relative to the fastest peer", 5, PEERS, http=True, scenario=ADD),
        compare.latency("HTTP add, 1 connection, p50 relative to the fastest peer", 0.5),
    ]
    for http, name in ((False, "stdio"), (True, "HTTP")):
        found += [
            compare.rate(f"{name} 10 KB, 32 in flight, relative to the Python SDK", 4, sdk, http=http, scenario=ECHO),
            compare.rate(
                f"{name} 10 KB, 32 in flight, relative to the fastest peer that validates",
                1,
                VALIDATING,
                http=http,
                scenario=ECHO,
            ),
            compare.synced_latency(f"{name} add, p50 that sync adds to batched, in fdatasyncs", 2, sync, http=http),
            compare.rate(
                f"{name} add, 32 in flight, sync relative to off", 0.4, [OURS_OFF], http=http, scenario=ADD, ours=OURS_SYNC
            ),
        ]
    return found
