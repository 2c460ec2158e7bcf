"""Proxies over HTTP in front of the same stdio server, the fastest there is, and that server alone for comparison.

Legacy wire: the only one that all of them speak. `strictwire guard` joins in as soon as this version has the verb.
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

from benchmarks.drive import Load, Measured, Sockets, Stalled
from benchmarks.fixture import Question, add_questions, echo_questions
from benchmarks.peers import BENCH, SERVERS, TYPESCRIPT_V1, environment, python_of
from benchmarks.process import NotStarted, Running, free_port
from benchmarks.process import run as run_process
from benchmarks.results import Effort, Found, Goal, Summary, Table, at_least, summarise
from benchmarks.talk import Talk, Wire, WrongAnswer

UPSTREAM: Final = (*TYPESCRIPT_V1.command, "--stdio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A command that serves HTTP; `{port}` stands for the port."""

    name: str
    command: tuple[str, ...]
    is_ours: bool = False

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
        verb = (str(Path(sys.executable).parent / "strictwire"), "guard", "--http", "127.0.0.1:{port}", "--", *UPSTREAM)
        found.insert(0, Proxy(name="strictwire guard", command=verb, is_ours=True))
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
    return Found(part="guard", tables=[table], goals=_goals(found))


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


def _goals(found: dict[str, dict[tuple[str, int], Summary]]) -> list[Goal]:
    ours = found.get("strictwire guard", {}).get(("add", 32))
    theirs = [cells["add", 32].rate for name, cells in found.items() if name != "strictwire guard" and ("add", 32) in cells]
    return (
        [at_least("guard, HTTP add, 32 connections, times the fastest proxy", 1, ours.rate / max(theirs))]
        if ours and theirs
        else []
    )
