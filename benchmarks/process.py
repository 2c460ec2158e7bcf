"""Servers under test as processes: start, stop, CPU time and memory."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0
_TICK: Final = 1.0 / os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class NotStarted(Exception):
    """The server ended or did not listen in time. The message is its standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    """0 for stdio."""
    errors: IO[bytes]
    started: float

    @property
    def pipes(self) -> tuple[int, int]:
        """File descriptors: to read responses from, and to write requests to."""
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        return self.process.stdout.fileno(), self.process.stdin.fileno()

    def cpu_seconds(self) -> float:
        """CPU time of the server and its children so far."""
        return sum(_stat(pid)[0] for pid in family(self.process.pid))

    def resident_bytes(self) -> int:
        """Resident memory of the server itself."""
        return _stat(self.process.pid)[1]

    def stderr_tail(self) -> str:
        """The last characters of its standard error."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-2000:]


def _stat(pid: int) -> tuple[float, int]:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0
    return (int(fields[11]) + int(fields[12])) * _TICK, int(fields[21]) * _PAGE


def family(pid: int) -> list[int]:
    """A process and all its children."""
    found = [pid]
    for each in found:
        for thread in Path(f"/proc/{each}/task").glob("*/children"):
            found += [int(child) for child in thread.read_text().split()]
    return found


def free_port() -> int:
    """A port that is currently free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def run(command: Sequence[str], *, env: Mapping[str, str], port: int = 0) -> Iterator[Running]:
    """Start a server and stop it at the end of the block. With a port, wait until it listens. Raises NotStarted."""
    pipe = subprocess.DEVNULL if port else subprocess.PIPE
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process: Any = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=dict(env))
        running = Running(process=process, port=port, errors=errors, started=started)
        try:
            if port:
                _wait_until_listening(running)
            yield running
        finally:
            _stop(process)


def _wait_until_listening(running: Running) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if running.process.poll() is not None:
            raise NotStarted(running.stderr_tail())
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", running.port)) == 0:
                return
        time.sleep(0.002)
    raise NotStarted(f"the server does not listen on port {running.port}: {running.stderr_tail()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)
