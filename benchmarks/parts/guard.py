"""Proxies over HTTP in front of the same stdio server, the fastest there is, so that the proxy is what is measured.

Legacy wire: the only one that all of them speak. What the guard adds to a call is measured over stdio.
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

from benchmarks.drive import Load, Measured, Pipes, Sockets, Stalled, drive_all
from benchmarks.fixture import Question, add_questions, echo_questions
from benchmarks.peers import BENCH, SDK_LOW, SERVERS, TYPESCRIPT_V1, environment, python_of
from benchmarks.process import NotStarted, Running, free_port
from benchmarks.process import run as run_process
from benchmarks.results import Effort, Found, Goal, Summary, Table, at_least, at_most, not_measured, summarise
from benchmarks.talk import Talk, Wire, WrongAnswer

UPSTREAM: Final = (*TYPESCRIPT_V1.command, "--stdio")
STRICTWIRE: Final = str(Path(sys.executable).parent / "strictwire")
GUARD: Final = "strictwire guard"
MEMORY_SECONDS: Final = 150.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A command that serves HTTP; `{port}` stands for the port."""

    name: str
    command: tuple[str, ...]

    @contextmanager
    def serve(self) -> Iterator[Running]:
        """The proxy, running. Raises NotStarted."""
        port = free_port()
        with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
            env = environment(Path(scratch)) | {"STRICTWIRE_AUDIT_MODE": "batched"}
            command = [part.replace("{port}", str(port)) for part in self.command]
            with run_process(command, env=env, port=port) as running:
                yield running


def proxies() -> list[Proxy]:
    """Who is there."""
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


def run(effort: Effort) -> Found:
    """Measure and compare."""
    asked = {"add": add_questions(), "echo 10 KB": echo_questions()}
    columns = [(name, count) for name in asked for count in (1, 32)]
    troubles: list[str] = []
    found: dict[str, dict[tuple[str, int], Summary]] = {}
    for proxy in proxies():
        found[proxy.name] = {}
        for name, count in columns:
            try:
                found[proxy.name][name, count] = _measure(proxy, asked[name], count, effort)
            except (NotStarted, Stalled, WrongAnswer, OSError) as exc:
                troubles.append(f"{proxy.name}, {name}, {count}: {exc}")
    rows = [[name, *(_show(cells.get(column)) for column in columns)] for name, cells in found.items()]
    table = Table(
        title="HTTP proxy before a stdio server: calls a second (median latency in us, CPU us of proxy and server)",
        columns=["proxy", *(f"{name}, {count}" for name, count in columns)],
        rows=rows,
        note="; ".join(troubles),
    )
    return Found(part="guard", tables=[table], goals=_goals(found, effort))


def _show(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.rate:,.0f} ({summary.p50:,.0f}, {summary.cpu:,.0f})"


def _measure(proxy: Proxy, questions: tuple[Question, ...], count: int, effort: Effort) -> Summary:
    with proxy.serve() as running:
        sockets = Sockets(running, Wire.LEGACY)
        talk = Talk(questions, Wire.LEGACY)
        runs: list[Measured] = []
        try:
            for _ in range(effort.rounds + 1):
                runs.append(sockets.drive(talk, Load(in_flight=count, seconds=effort.seconds)))
                sys.stderr.write(f"guard {proxy.name} {questions[0].tool} {count}: {runs[-1].rate:,.0f}/s\n")
        finally:
            sockets.close()
    return summarise(runs[1:])


def _goals(found: dict[str, dict[tuple[str, int], Summary]], effort: Effort) -> list[Goal]:
    ours = found.get(GUARD, {}).get(("add", 32))
    if ours is None:
        return []
    rates = {name: cells["add", 32].rate for name, cells in found.items() if name != GUARD and ("add", 32) in cells}
    return [
        *(at_least(f"guard, HTTP add, 32 connections, times {name}", 3, ours.rate / rate) for name, rate in rates.items()),
        _latency_goal(effort),
        _memory_goal(),
    ]


def _latency_goal(effort: Effort) -> Goal:
    """What the guard adds over stdio, against what the same call takes without it."""
    upstream = [*SDK_LOW.command, "--stdio"]
    straight, guarded = ([*before, *upstream] for before in ((), (STRICTWIRE, "guard", "--stdio", "--")))
    with _pipes(straight) as alone, _pipes(guarded) as behind:
        talk = Talk(add_questions(), Wire.LEGACY)
        load = Load(in_flight=1, seconds=effort.seconds)
        runs = [(alone.drive(talk, load).p50, behind.drive(talk, load).p50) for _ in range(effort.rounds + 1)][1:]
    without, through = (sorted(times)[len(times) // 2] for times in zip(*runs, strict=True))
    text = "guard, stdio add, what it adds to the p50 of the Python SDK's server, share of that p50"
    return at_most(text, 1.0, (through - without) / without, f" ({through * 1e6:,.0f} us against {without * 1e6:,.0f} us)")


def _memory_goal() -> Goal:
    text = "guard, memory after 100,000 calls, times its own after 10,000"
    with _pipes([STRICTWIRE, "guard", "--stdio", "--", *UPSTREAM]) as pipes:
        talk = Talk(add_questions(), Wire.LEGACY)
        found = []
        for calls in (10_000, 90_000):
            try:
                drive_all(pipes, talk, Load(in_flight=32, seconds=MEMORY_SECONDS, calls=calls))
            except Stalled as exc:
                return not_measured(text, str(exc))
            found.append(pipes.running.resident_bytes())
    return at_most(text, 1.05, found[1] / found[0])


@contextmanager
def _pipes(command: list[str]) -> Iterator[Pipes]:
    with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
        env = environment(Path(scratch)) | {"STRICTWIRE_AUDIT_MODE": "batched"}
        with run_process(command, env=env) as running:
            yield Pipes(running, Wire.LEGACY)
