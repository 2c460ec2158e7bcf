"""Starts a fixture server on both transports and runs the probes."""

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
from strictwire.probe.record import ProbeReport, Status

HERE = Path(__file__).parent
FASTMCP = HERE.parents[1] / ".venv-fastmcp" / "bin" / "python"

SDK_HIGH = [sys.executable, str(HERE / "servers" / "sdk_high.py")]
SDK_LOW = [sys.executable, str(HERE / "servers" / "sdk_low.py")]
ON_FASTMCP = [str(FASTMCP), str(HERE / "servers" / "on_fastmcp.py")]
OWN = [sys.executable, str(HERE / "servers" / "own.py")]

BUDGET = 600
"""Seconds for a run: every probe must run, also on a busy machine."""

ALL_VARIANTS = ("stdio/modern", "stdio/legacy", "http/modern", "http/legacy")
STDIO = ALL_VARIANTS[:2]
HTTP = ALL_VARIANTS[2:]


def probed_with(command: Sequence[str], options: probe.ProbeOptions) -> ProbeReport:
    """Run the probes on a fixture server over stdio only."""
    assert Path(command[0]).exists(), f"{command[0]} is missing: run ./scripts/peers"
    return asyncio.run(probe.run_with(replace(options, stdio=[*command, "--stdio"], budget=BUDGET)))


def probed(command: Sequence[str], *flags: str, only: Sequence[str] | None = None) -> ProbeReport:
    """Run the probes on a fixture server on both transports."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert Path(command[0]).exists(), f"{command[0]} is missing: run ./scripts/peers"
    with subprocess.Popen([*command, "--http", str(port), *flags], stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port)
            options = probe.ProbeOptions(
                stdio=[*command, "--stdio", *flags],
                http=f"http://127.0.0.1:{port}/mcp",
                only=None if only is None else frozenset(only),
                budget=BUDGET,
                eof_seconds=12,
                seconds=10,
                flood=32 * 1024 * 1024,
            )
            return asyncio.run(probe.run_with(options))
        finally:
            process.terminate()


def found_on(report: ProbeReport, name: str) -> set[str]:
    """The variants on which a probe has a finding."""
    return {str(result.variant) for result in report.findings if result.probe == name}


def got(report: ProbeReport, name: str, variant: str) -> str:
    """What the server did with a probe on a variant."""
    return next(result.got for result in report.results if result.probe == name and str(result.variant) == variant)


def differs(report: ProbeReport, name: str) -> set[tuple[str, str]]:
    """The pairs of variants with different responses to a probe."""
    return {(str(each.left), str(each.right)) for each in report.differences if each.probe == name}


def passed_on(report: ProbeReport, name: str) -> set[str]:
    """The variants on which a probe passed."""
    return {str(each.variant) for each in report.results if each.probe == name and each.status is Status.PASS}


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
