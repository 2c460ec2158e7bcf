"""Starts a fixture server on both transports and probes it."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strictwire import probe
from strictwire.probe.record import Report, Status

HERE = Path(__file__).parent
FASTMCP = HERE.parents[1] / ".venv-fastmcp" / "bin" / "python"

SDK_HIGH = [sys.executable, str(HERE / "servers" / "sdk_high.py")]
SDK_LOW = [sys.executable, str(HERE / "servers" / "sdk_low.py")]
ON_FASTMCP = [str(FASTMCP), str(HERE / "servers" / "on_fastmcp.py")]
OWN = [sys.executable, str(HERE / "servers" / "own.py")]

ALL_LANES = ("stdio/modern", "stdio/legacy", "http/modern", "http/legacy")
STDIO = ALL_LANES[:2]
HTTP = ALL_LANES[2:]


def probed_with(command: Sequence[str], options: probe.Options) -> Report:
    """Probe a fixture server over stdio alone."""
    assert Path(command[0]).exists(), f"{command[0]} is missing: run ./scripts/peers"
    return asyncio.run(probe.run_with(replace(options, stdio=[*command, "--stdio"])))


def probed(command: Sequence[str], *flags: str, only: Sequence[str] | None = None) -> Report:
    """Probe a fixture server on both transports."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert Path(command[0]).exists(), f"{command[0]} is missing: run ./scripts/peers"
    with subprocess.Popen([*command, "--http", str(port), *flags], stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port)
            options = probe.Options(
                stdio=[*command, "--stdio", *flags],
                http=f"http://127.0.0.1:{port}/mcp",
                only=None if only is None else frozenset(only),
            )
            return asyncio.run(probe.run_with(options))
        finally:
            process.terminate()


def found_on(report: Report, name: str) -> set[str]:
    """The lanes on which a probe found something."""
    return {str(verdict.lane) for verdict in report.findings if verdict.probe == name}


def got(report: Report, name: str, lane: str) -> str:
    """What a probe got on a lane."""
    return next(verdict.got for verdict in report.verdicts if verdict.probe == name and str(verdict.lane) == lane)


def differs(report: Report, name: str) -> set[tuple[str, str]]:
    """The pairs of lanes between which the answers to a probe differ."""
    return {(str(each.left), str(each.right)) for each in report.differences if each.probe == name}


def passed_on(report: Report, name: str) -> set[str]:
    """The lanes on which a probe passed."""
    return {str(each.lane) for each in report.verdicts if each.probe == name and each.status is Status.PASS}


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
