"""HTTP proxies in front of the same stdio server, the fastest one, so that the proxy dominates the measurement.

Uses the legacy revision, the only one that all proxies support. The latency that the guard adds is measured over stdio.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.drive import Load, Measurement, Pipes, Sockets, Stalled, drive_all
from benchmarks.fixture import ExpectedCall, add_calls, echo_calls
from benchmarks.messages import CallStream, Revision, WrongResponse
from benchmarks.peers import BENCH, SDK_LOW, SERVERS, TYPESCRIPT_V1, environment, python_of
from benchmarks.process import NotStarted, Running, free_port
from benchmarks.process import run as run_process
from benchmarks.results import Effort, Goal, PartResult, Summary, Table, at_least, at_most, not_measured, summarise

UPSTREAM: Final = (*TYPESCRIPT_V1.command, "--stdio")
STRICTWIRE: Final = str(Path(sys.executable).parent / "strictwire")
GUARD: Final = "strictwire guard"
MEMORY_SECONDS: Final = 150.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy command; `{port}` is replaced by the port."""

    name: str
    command: tuple[str, ...]

    @contextmanager
    def serve(self) -> Iterator[Running]:
        """Start the proxy and stop it at the end of the block. Raises NotStarted."""
        port = free_port()
        with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
            env = environment(Path(scratch)) | {"STRICTWIRE_AUDIT_MODE": "batched"}
            command = [part.replace("{port}", str(port)) for part in self.command]
            with run_process(command, env=env, port=port) as running:
                yield running


def proxies() -> list[Proxy]:
    """The proxies that are installed."""
    found = [
        Proxy(
            name="FastMCP proxy",
            command=(
                python_of("fastmcp"), str(SERVERS / "fastmcp_proxy.py"), "--http", "127.0.0.1:{port}", "--", *UPSTREAM,
            ),
        ),
        Proxy(
            name="mcp-proxy (pip)",
            command=(
                str(BENCH / "mcp-proxy" / "bin" / "mcp-proxy"), "--port", "{port}", "--pass-environment",
                "--log-level", "ERROR", "--", *UPSTREAM,
            ),
        ),
    ]  # fmt: skip
    if importlib.util.find_spec("strictwire.cli.guard") is not None:
        found.insert(0, Proxy(name=GUARD, command=(STRICTWIRE, "guard", "--http", "127.0.0.1:{port}", "--", *UPSTREAM)))
    return found


def run(effort: Effort) -> PartResult:
    """Measure and compare."""
    calls = {"add": add_calls(), "echo 10 KB": echo_calls()}
    columns = [(name, count) for name in calls for count in (1, 32)]
    errors: list[str] = []
    found: dict[str, dict[tuple[str, int], Summary]] = {}
    for proxy in proxies():
        found[proxy.name] = {}
        for name, count in columns:
            try:
                found[proxy.name][name, count] = _measure(proxy, calls[name], count, effort)
            except (NotStarted, Stalled, WrongResponse, OSError) as exc:
                errors.append(f"{proxy.name}, {name}, {count}: {exc}")
    rows = [[name, *(_show(matrix.get(column)) for column in columns)] for name, matrix in found.items()]
    table = Table(
        title="HTTP proxy in front of a stdio server: calls per second (median latency in us, CPU us of proxy and server)",
        columns=["proxy", *(f"{name}, {count}" for name, count in columns)],
        rows=rows,
        note="; ".join(errors),
    )
    return PartResult(part="guard", tables=[table], goals=_goals(found, effort))


def _show(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.rate:,.0f} ({summary.p50:,.0f}, {summary.cpu:,.0f})"


def _measure(proxy: Proxy, expected_calls: tuple[ExpectedCall, ...], count: int, effort: Effort) -> Summary:
    with proxy.serve() as running:
        sockets = Sockets(running, Revision.LEGACY)
        stream = CallStream(expected_calls, Revision.LEGACY)
        runs: list[Measurement] = []
        try:
            for _ in range(effort.rounds + 1):
                runs.append(sockets.drive(stream, Load(in_flight=count, seconds=effort.seconds)))
                sys.stderr.write(f"guard {proxy.name} {expected_calls[0].tool} {count}: {runs[-1].rate:,.0f}/s\n")
        finally:
            sockets.close()
    return summarise(runs[1:])


def _goals(found: dict[str, dict[tuple[str, int], Summary]], effort: Effort) -> list[Goal]:
    ours = found.get(GUARD, {}).get(("add", 32))
    if ours is None:
        return []
    rates = {name: matrix["add", 32].rate for name, matrix in found.items() if name != GUARD and ("add", 32) in matrix}
    return [
        *(
            at_least(f"guard, HTTP add, 32 connections, relative to {name}", 3, ours.rate / rate)
            for name, rate in rates.items()
        ),
        _latency_goal(effort),
        _memory_goal(),
    ]


def _latency_goal(effort: Effort) -> Goal:
    """The latency that the guard adds over stdio, relative to the same call without it."""
    upstream = [*SDK_LOW.command, "--stdio"]
    straight, guarded = ([*before, *upstream] for before in ((), (STRICTWIRE, "guard", "--stdio", "--")))
    with _pipes(straight) as alone, _pipes(guarded) as behind:
        stream = CallStream(add_calls(), Revision.LEGACY)
        load = Load(in_flight=1, seconds=effort.seconds)
        runs = [(alone.drive(stream, load).p50, behind.drive(stream, load).p50) for _ in range(effort.rounds + 1)][1:]
    without, through = (sorted(times)[len(times) // 2] for times in zip(*runs, strict=True))
    text = "guard, stdio add, added latency relative to the p50 of the Python SDK server"
    return at_most(text, 1.0, (through - without) / without, f" ({through * 1e6:,.0f} us versus {without * 1e6:,.0f} us)")


def _memory_goal() -> Goal:
    text = "guard, memory after 100,000 calls relative to 10,000 calls"
    with _pipes([STRICTWIRE, "guard", "--stdio", "--", *UPSTREAM]) as pipes:
        stream = CallStream(add_calls(), Revision.LEGACY)
        found = []
        for calls in (10_000, 90_000):
            try:
                drive_all(pipes, stream, Load(in_flight=32, seconds=MEMORY_SECONDS, calls=calls))
            except Stalled as exc:
                return not_measured(text, str(exc))
            found.append(pipes.running.resident_bytes())
    return at_most(text, 1.05, found[1] / found[0])


@contextmanager
def _pipes(command: list[str]) -> Iterator[Pipes]:
    with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
        env = environment(Path(scratch)) | {"STRICTWIRE_AUDIT_MODE": "batched"}
        with run_process(command, env=env) as running:
            yield Pipes(running, Revision.LEGACY)
