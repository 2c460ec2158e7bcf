"""Calls of a small and a large tool, over stdio and HTTP, both wires, one and 32 in flight: ours beside every peer."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

from benchmarks.field import Cells, Scenario, measure, opened, survey
from benchmarks.fixture import add_questions, echo_questions
from benchmarks.parts.floors import BARE, BARE_TWO
from benchmarks.peers import ALL, BENCH, OURS, OURS_SYNC, OURS_TWO, PEERS, SDK_HIGH, SDK_LOW, TYPESCRIPT_V1, Contender
from benchmarks.results import Effort, Found, Goal, Summary, Table, at_least, at_most, compare_rounds, not_measured
from benchmarks.talk import Wire

ADD: Final = "add"
ECHO: Final = "echo 10 KB"
MANY: Final = 32


def scenarios() -> list[Scenario]:
    """What is asked."""
    asked = {ADD: add_questions(), ECHO: echo_questions()}
    return [Scenario(name=name, questions=asked[name], in_flight=count) for name in asked for count in (1, MANY)]


def run(effort: Effort) -> Found:
    """Measure and compare."""
    syncs = [fdatasync_microseconds()]
    cells = survey(ALL, [[each] for each in scenarios()], effort, Cells())
    syncs.append(fdatasync_microseconds())
    workers = two_workers(effort, cells)
    syncs.append(fdatasync_microseconds())
    sync = statistics.median(syncs)  # of the disk as it was throughout: it differs from one minute to the next
    note = f"Median fdatasync of 200 bytes in this run: {sync:.0f} us. " + "; ".join(cells.troubles)
    return Found(part="server", tables=[_rates(cells, note), _costs(cells)], goals=[*goals(cells, sync), workers])


def two_workers(effort: Effort, cells: Cells) -> Goal:
    """What a second process costs: small calls over 32 connections, one worker beside two.

    With two, each has half of the connections, and so fewer calls that share a turn and a write; and the load runs on cores
    that both have work for. Beside it what they cost with as many connections for each, and what a second process costs a
    server that does nothing but read and write, and speaks the legacy wire alone.
    """
    asked = [Scenario(name=ADD, questions=add_questions(), in_flight=count) for count in (MANY, 2 * MANY)]
    with opened([OURS, OURS_TWO, BARE, BARE_TWO], [Wire.LEGACY], http=True, cells=cells) as channels:
        measured = measure(channels, asked, effort, cells, http=True)
    found = {(key.contender, key.in_flight): each for key, each in measured.items()}
    text = "CPU time a call with two worker processes, times that with one"
    asked_of = ((OURS, MANY), (OURS_TWO, MANY), (OURS_TWO, 2 * MANY), (BARE, MANY), (BARE_TWO, MANY))
    one, two, more, bare, bare_two = (found.get((who.name, count)) for who, count in asked_of)
    if one is None or two is None or more is None or bare is None or bare_two is None:
        return not_measured(text, "a server did not run")
    detail = (
        f" ({two.cpu:.0f} us against {one.cpu:.0f} us; {compare_rounds(more.cpus, one.cpus):.2f} with 32 connections each;"
        f" asyncio and msgspec alone {compare_rounds(bare_two.cpus, bare.cpus):.2f})"
    )
    return at_most(text, 1.15, compare_rounds(two.cpus, one.cpus), detail)


def fdatasync_microseconds(times: int = 100) -> float:
    """What it takes to have 200 bytes on this disk."""
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


def _table(cells: Cells, title: str, note: str, show: Callable[[Summary], str]) -> Table:
    rows = []
    for contender in ALL:
        for wire in contender.wires:
            by_column = {(key.http, key.scenario, key.in_flight): summary for key, summary in cells.found.items()
                         if (key.contender, key.wire) == (contender.name, wire)}  # fmt: skip
            shown = [show(by_column[column]) if column in by_column else "-" for column in COLUMNS]
            rows.append([contender.title, str(wire), contender.checks, *shown])
    return Table(
        title=title, columns=["server", "wire", "checks", *(_title(*column) for column in COLUMNS)], rows=rows, note=note
    )


def _rates(cells: Cells, note: str) -> Table:
    return _table(
        cells, "Calls a second (median latency in us)", note, lambda found: f"{found.rate:,.0f} ({found.p50:,.0f})"
    )


def _costs(cells: Cells) -> Table:
    note = "Other work on the machine changes rates more than these. In brackets: how busy the load was, at most 1."
    return _table(cells, "CPU time of the server, us a call", note, lambda found: f"{found.cpu:,.0f} ({found.busy:.2f})")


class Compare:
    """Ratios between ours at its slower wire and peers at their faster one, of the same rounds."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    def find(self, who: Sequence[Contender], *, http: bool, scenario: str, count: int) -> list[Summary]:
        """Every summary of some contenders."""
        return [
            summary
            for contender in who
            for summary in self._cells.of(http=http, scenario=scenario, in_flight=count, contender=contender.name)
        ]

    def rate(
        self, text: str, wanted: float, who: Sequence[Contender], *, http: bool, scenario: str, count: int = MANY
    ) -> Goal:
        """How many times the calls a second of the fastest of them."""
        ours = self.find([OURS], http=http, scenario=scenario, count=count)
        theirs = self.find(who, http=http, scenario=scenario, count=count)
        if not ours or not theirs:
            return at_least(text, wanted, None)
        mine, other = min(ours, key=_by_rate), max(theirs, key=_by_rate)
        cpu = compare_rounds(other.cpus, mine.cpus)
        return at_least(text, wanted, compare_rounds(mine.rates, other.rates), f" (by CPU time {cpu:.2f})")

    def latency(self, text: str, ours: Contender, extra: float) -> Goal:
        """Median latency with one connection against the fastest peer's; `extra` microseconds are granted."""
        mine = self.find([ours], http=True, scenario=ADD, count=1)
        theirs = self.find(PEERS, http=True, scenario=ADD, count=1)
        if not mine or not theirs:
            return at_most(text, 1 / 3, None)
        best, worst = min(theirs, key=_by_latency), max(mine, key=_by_latency)
        share = compare_rounds(worst.p50s, best.p50s)
        return at_most(text, 1 / 3 + extra / best.p50, share, f" ({worst.p50:,.0f} us against {best.p50:,.0f} us)")


_by_rate = attrgetter("rate")
_by_latency = attrgetter("p50")


def goals(cells: Cells, sync: float) -> list[Goal]:
    """The figures to reach."""
    compare = Compare(cells)
    sdk = (SDK_LOW, SDK_HIGH)
    return [
        compare.rate("stdio add, 32 in flight, times the official Python SDK", 20, sdk, http=False, scenario=ADD),
        compare.rate(
            "stdio add, 32 in flight, times TypeScript SDK v1 low level", 1, [TYPESCRIPT_V1], http=False, scenario=ADD
        ),
        compare.rate("HTTP add, 32 connections, times the Python SDK low level", 8, [SDK_LOW], http=True, scenario=ADD),
        compare.rate("HTTP add, 32 connections, times the fastest peer", 5, PEERS, http=True, scenario=ADD),
        compare.latency("HTTP add, 1 connection, p50, share of the fastest peer's", OURS, 0.0),
        compare.latency("the same with audit sync, one median fdatasync granted", OURS_SYNC, sync),
        compare.rate("stdio 10 KB, 32 in flight, times the official Python SDK", 5, sdk, http=False, scenario=ECHO),
        compare.rate("HTTP 10 KB, 32 connections, times the official Python SDK", 5, sdk, http=True, scenario=ECHO),
        compare.rate("HTTP 10 KB, 32 connections, times the fastest peer", 3, PEERS, http=True, scenario=ECHO),
        compare.rate(
            "stdio 10 KB, 32 in flight, times TypeScript SDK v1 low level", 1.5, [TYPESCRIPT_V1], http=False, scenario=ECHO
        ),
    ]
