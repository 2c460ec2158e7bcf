"""Throughput by calls in flight, size of the document, number of tools and length of the audit log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.drive import Load, Pipes, Sockets, Stalled, drive_all
from benchmarks.fixture import ExpectedCall, add_calls, echo_calls
from benchmarks.messages import CallStream, Revision, WrongResponse
from benchmarks.peers import OURS, SDK_LOW, TYPESCRIPT_V1, Contender
from benchmarks.process import NotStarted, Running
from benchmarks.results import Effort, PartResult, Plot, Summary, Table, summarise

COMPARED: Final = (OURS, SDK_LOW, TYPESCRIPT_V1)
IN_FLIGHT: Final = (1, 2, 4, 8, 16, 32, 64, 128)
ROWS: Final = (0, 2, 10, 26, 100, 250)
"""Rows per table of the document: from 1 KB to 90 KB."""

TOOLS: Final = (1, 10, 100, 1000, 10_000)
START_SECONDS: Final = 120.0
"""Time limit for the start of a server with many tools."""

LOG_STEPS: Final = 6
LOG_CALLS: Final = 20_000
"""Calls per step of the growing log."""


def _bytes(call: ExpectedCall) -> int:
    import json

    return len(json.dumps(call.arguments, separators=(",", ":")))


def _once(channel: Pipes | Sockets, stream: CallStream, in_flight: int, effort: Effort) -> Summary:
    load = Load(in_flight=in_flight, seconds=effort.seconds)
    channel.drive(stream, Load(in_flight=in_flight, seconds=effort.seconds / 2))
    return summarise([channel.drive(stream, load) for _ in range(effort.rounds)])


def in_flight(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """HTTP with an increasing number of connections."""
    with contender.serve(http=True) as running:
        sockets = Sockets(running, Revision.LEGACY)
        stream = CallStream(add_calls(), Revision.LEGACY)
        try:
            return [(count, _once(sockets, stream, count, effort)) for count in IN_FLIGHT]
        finally:
            sockets.close()


def sizes(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """stdio with increasing document sizes."""
    with contender.serve(http=False) as running:
        pipes = Pipes(running, Revision.LEGACY)
        asked = [echo_calls(2, rows=rows) for rows in ROWS]
        return [(_bytes(each[0]), _once(pipes, CallStream(each, Revision.LEGACY), 32, effort)) for each in asked]


def tools(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """stdio with an increasing number of tools, as far as the server starts in time."""
    found: list[tuple[float, Summary]] = []
    for count in TOOLS:
        try:
            found.append((count, _with_tools(contender, count, effort)))
        except Stalled:
            break
    return found


def _with_tools(contender: Contender, count: int, effort: Effort) -> Summary:
    with contender.serve(http=False, tools=count) as running:
        pipes = Pipes(running, Revision.LEGACY, stall_seconds=START_SECONDS)
        return _once(pipes, CallStream(add_calls(), Revision.LEGACY), 32, effort)


def log_length(contender: Contender, effort: Effort) -> list[tuple[float, Summary]]:
    """stdio with a growing audit log."""
    with contender.serve(http=False) as running:
        return [*_growing(running, effort)]


def _growing(running: Running, effort: Effort) -> Sequence[tuple[float, Summary]]:
    pipes = Pipes(running, Revision.LEGACY)
    stream = CallStream(add_calls(), Revision.LEGACY)
    calls = LOG_CALLS if effort.rounds > 1 else LOG_CALLS // 10
    pipes.drive(stream, Load(in_flight=32, seconds=60.0, calls=1000))
    found = []
    for step in range(LOG_STEPS):
        measured = drive_all(pipes, stream, Load(in_flight=32, seconds=60.0, calls=calls))
        found.append((1000.0 + (step + 1) * calls, summarise([measured])))
    return found


Sweep = Callable[[Contender, Effort], list[tuple[float, Summary]]]

SWEEPS: Final[tuple[tuple[str, str, str, Sweep, tuple[Contender, ...]], ...]] = (
    ("in-flight", "HTTP add by number of connections", "connections", in_flight, COMPARED),
    ("size", "stdio echo, 32 in flight, by size", "bytes of arguments", sizes, COMPARED),
    ("tools", "stdio add, 32 in flight, by number of tools", "tools", tools, COMPARED),
    ("log", "stdio add, 32 in flight, by length of the audit log", "records", log_length, (OURS,)),
)


def run(effort: Effort) -> PartResult:
    """Measure all sweeps. A contender that fails is not in the plot; the table names it."""
    tables, plots = [], []
    for name, title, across, sweep, contenders in SWEEPS:
        found, errors = _sweep(sweep, contenders, effort)
        plots.append(_plot(name, title, across, found))
        tables.append(_table(title, across, found, errors))
    return PartResult(part="sweeps", tables=tables, plots=plots)


def _sweep(
    sweep: Sweep, contenders: Sequence[Contender], effort: Effort
) -> tuple[dict[str, list[tuple[float, Summary]]], list[str]]:
    found, errors = {}, []
    for contender in contenders:
        sys.stderr.write(f"{sweep.__name__}: {contender.name}\n")
        try:
            found[contender.title] = sweep(contender, effort)
        except (NotStarted, Stalled, WrongResponse, OSError) as exc:
            errors.append(f"{contender.name}: {exc}")
    return found, errors


def _plot(name: str, title: str, across: str, found: dict[str, list[tuple[float, Summary]]]) -> Plot:
    lines = {title: [(x, each.rate) for x, each in points] for title, points in found.items()}
    return Plot(name=name, title=title, across=across, up="calls per second", lines=lines)


def _table(title: str, across: str, found: dict[str, list[tuple[float, Summary]]], errors: list[str]) -> Table:
    xs = sorted({x for points in found.values() for x, _ in points})
    rows = [[name, *(_show(dict(points).get(x)) for x in xs)] for name, points in found.items()]
    note = f"Calls per second (CPU us per call) by {across}. " + "; ".join(errors)
    return Table(title=title, columns=["server", *(f"{x:,.0f}" for x in xs)], rows=rows, note=note)


def _show(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.rate:,.0f} ({summary.cpu:,.0f})"
