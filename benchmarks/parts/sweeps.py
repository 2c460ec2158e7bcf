"""Throughput against what grows: calls in flight, size of the document, number of tools, length of the audit log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.drive import Load, Pipes, Sockets, Stalled, drive_all
from benchmarks.fixture import Question, add_questions, echo_questions
from benchmarks.peers import OURS, SDK_LOW, TYPESCRIPT_V1, Contender
from benchmarks.process import NotStarted, Running
from benchmarks.results import Effort, Found, Plot, Summary, Table, summarise
from benchmarks.talk import Talk, Wire, WrongAnswer

COMPARED: Final = (OURS, SDK_LOW, TYPESCRIPT_V1)
IN_FLIGHT: Final = (1, 2, 4, 8, 16, 32, 64, 128)
ROWS: Final = (0, 2, 10, 26, 100, 250)
"""Rows of the document's tables: from 1 KB to 90 KB."""

TOOLS: Final = (1, 10, 100, 1000, 10_000)
START_SECONDS: Final = 120.0
"""How long a server with many tools may take to start."""

LOG_STEPS: Final = 6
LOG_CALLS: Final = 20_000
"""Calls between two looks at a growing log."""


def _bytes(question: Question) -> int:
    import json

    return len(json.dumps(question.arguments, separators=(",", ":")))


def _once(channel: Pipes | Sockets, talk: Talk, in_flight: int, effort: Effort) -> Summary:
    load = Load(in_flight=in_flight, seconds=effort.seconds)
    channel.drive(talk, Load(in_flight=in_flight, seconds=effort.seconds / 2))
    return summarise([channel.drive(talk, load) for _ in range(effort.rounds)])


def in_flight(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """HTTP, more and more connections."""
    with contender.serve(http=True) as running:
        sockets = Sockets(running, Wire.LEGACY)
        talk = Talk(add_questions(), Wire.LEGACY)
        try:
            return [(count, _once(sockets, talk, count, effort)) for count in IN_FLIGHT]
        finally:
            sockets.close()


def sizes(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """stdio, larger and larger documents."""
    with contender.serve(http=False) as running:
        pipes = Pipes(running, Wire.LEGACY)
        asked = [echo_questions(2, rows=rows) for rows in ROWS]
        return [(_bytes(each[0]), _once(pipes, Talk(each, Wire.LEGACY), 32, effort)) for each in asked]


def tools(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """stdio, longer and longer catalogues, as far as the server starts in time."""
    found: list[tuple[float, Summary]] = []
    for count in TOOLS:
        try:
            found.append((count, _with_tools(contender, count, effort)))
        except Stalled:
            break
    return found


def _with_tools(contender: Contender, count: int, effort: Effort) -> Summary:
    with contender.serve(http=False, tools=count) as running:
        pipes = Pipes(running, Wire.LEGACY, patience=START_SECONDS)
        return _once(pipes, Talk(add_questions(), Wire.LEGACY), 32, effort)


def log_length(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """stdio, one audit log that grows."""
    with contender.serve(http=False) as running:
        return [*_growing(running, effort)]


def _growing(running: Running, effort: Effort) -> Sequence[tuple[float, Summary]]:
    pipes = Pipes(running, Wire.LEGACY)
    talk = Talk(add_questions(), Wire.LEGACY)
    calls = LOG_CALLS if effort.rounds > 1 else LOG_CALLS // 10
    pipes.drive(talk, Load(in_flight=32, seconds=60.0, calls=1000))
    found = []
    for step in range(LOG_STEPS):
        measured = drive_all(pipes, talk, Load(in_flight=32, seconds=60.0, calls=calls))
        found.append((1000.0 + (step + 1) * calls, summarise([measured])))
    return found


Sweep = Callable[[Contender, Effort], list[tuple[float, Summary]]]

SWEEPS: Final[tuple[tuple[str, str, str, Sweep, tuple[Contender, ...]], ...]] = (
    ("in-flight", "HTTP add against connections", "connections", in_flight, COMPARED),
    ("size", "stdio echo, 32 in flight, against size", "bytes of arguments", sizes, COMPARED),
    ("tools", "stdio add, 32 in flight, against number of tools", "tools", tools, COMPARED),
    ("log", "stdio add, 32 in flight, against length of the audit log", "records", log_length, (OURS,)),
)


def run(effort: Effort) -> Found:
    """Measure; a contender that fails is left out of the plot and named."""
    tables, plots = [], []
    for name, title, across, sweep, contenders in SWEEPS:
        found, troubles = _sweep(sweep, contenders, effort)
        plots.append(_plot(name, title, across, found))
        tables.append(_table(title, across, found, troubles))
    return Found(part="sweeps", tables=tables, plots=plots)


def _sweep(
    sweep: Sweep, contenders: Sequence[Contender], effort: Effort
) -> tuple[dict[str, list[tuple[float, Summary]]], list[str]]:
    found, troubles = {}, []
    for contender in contenders:
        sys.stderr.write(f"{sweep.__name__}: {contender.name}\n")
        try:
            found[contender.title] = sweep(contender, effort)
        except (NotStarted, Stalled, WrongAnswer, OSError) as exc:
            troubles.append(f"{contender.name}: {exc}")
    return found, troubles


def _plot(name: str, title: str, across: str, found: dict[str, list[tuple[float, Summary]]]) -> Plot:
    lines = {title: [(x, each.rate) for x, each in points] for title, points in found.items()}
    return Plot(name=name, title=title, across=across, up="calls a second", lines=lines)


def _table(title: str, across: str, found: dict[str, list[tuple[float, Summary]]], troubles: list[str]) -> Table:
    places = sorted({x for points in found.values() for x, _ in points})
    rows = [[name, *(_show(dict(points).get(x)) for x in places)] for name, points in found.items()]
    note = f"Calls a second (CPU us a call) by {across}. " + "; ".join(troubles)
    return Table(title=title, columns=["server", *(f"{x:,.0f}" for x in places)], rows=rows, note=note)


def _show(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.rate:,.0f} ({summary.cpu:,.0f})"
