"""A stdio client that does not read: it is paused, then disconnected, and what waits for it is bounded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from strictwire.pipeline.call import Caller
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport import call_window, stdio, stdio_pipes
from tests.fixtures.live import HERE, PATIENCE, command, environment, modern

pytestmark = pytest.mark.slow

MEGABYTE = 1024 * 1024
BIG = 600_000
"""Quotes: an answer of 3.6 MB, just below the limit of a tool."""


def call(number: int, tool: str, **arguments: object) -> bytes:
    return modern(number, "tools/call", {"name": tool, "arguments": arguments}) + b"\n"


@contextmanager
def unread(**env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose output is a pipe that is not read."""
    process = subprocess.Popen(
        command("hard:server", "--stdio"),
        cwd=HERE,
        env=environment(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def peak(process: subprocess.Popen[bytes]) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


@pytest.mark.parametrize("tool", ["big", "big_at_once"])
def test_answers_that_a_client_does_not_read_take_a_bounded_amount_of_memory(tool: str) -> None:
    """60 KB of requests whose answers have 1.2 GB."""
    with unread() as process:
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        requests = b"".join(call(number, tool, size=BIG) for number in range(1000))
        sent = process.stdin.raw.write(requests[:60_000])  # type: ignore[attr-defined]  # as much as the pipe takes
        largest, quiet = 0, 0
        while quiet < 10 and process.poll() is None:
            threading.Event().wait(0.1)
            now = peak(process)
            quiet, largest = (quiet + 1, largest) if now == largest else (0, now)

    assert sent == 60_000
    assert largest < 300 * MEGABYTE, f"{largest / 1e6:.0f} MB"


def test_a_client_that_reads_slowly_gets_every_answer() -> None:
    with unread() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(call(number, "big", size=BIG) for number in range(40)))
        process.stdin.close()

        assert sum(line.count(b'"structuredContent"') for line in process.stdout) == 40
        assert process.wait(PATIENCE) == 0


def test_no_call_runs_for_a_client_that_has_closed_its_end() -> None:
    with unread() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(call(1, "hold", name="a"))
        process.stdin.flush()
        process.stdout.close()

        assert process.wait(PATIENCE) == 0, "input is still open"


def test_a_client_that_reads_nothing_for_long_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_pipes, "WRITE_SECONDS", 0.05)

    async def write() -> list[bool]:
        reader, sink = os.pipe()
        events: list[bool] = []
        lost = asyncio.Event()
        writer = await stdio_pipes.open_writer(sink, events.append, lost.set)
        writer.write(b"x" * 4 * MEGABYTE)
        async with asyncio.timeout(PATIENCE):
            await lost.wait()
        os.close(reader)
        return events

    assert asyncio.run(write()) == [True], "paused, and never resumed"


def test_the_end_does_not_wait_for_a_client_that_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_pipes, "WRITE_SECONDS", 0.05)

    async def close() -> int:
        reader, sink = os.pipe()
        writer = await stdio_pipes.open_writer(sink, lambda _full: None, lambda: None)
        writer.write(b"x" * 2 * MEGABYTE)
        async with asyncio.timeout(PATIENCE):
            await writer.close()
        os.close(reader)
        return writer.unsent

    assert asyncio.run(close()) == 0


class Holding:
    """An endpoint that answers when it is told to."""

    def __init__(self) -> None:
        self.begun: list[Deliver] = []

    async def serve(self, _inbound: Inbound, _outlet: Outlet, deliver: Deliver) -> None:
        self.begun.append(deliver)
        await asyncio.Event().wait()


class Paused:
    """A reader that remembers whether it reads."""

    reads = True

    def pause(self) -> None:
        self.reads = False

    def resume(self) -> None:
        self.reads = True


def test_large_requests_wait_for_the_answers_to_others() -> None:
    size = 8 * MEGABYTE
    allowed = call_window.MAX_IN_FLIGHT_BYTES // size

    async def serve() -> list[tuple[int, bool]]:
        endpoint, reader = Holding(), Paused()
        server: Any = stdio.StdioServer(endpoint, WriteBatch(MemoryRecorder()), caller=Caller(), max_line=size)  # type: ignore[arg-type]
        server._reader = reader
        seen = []
        for _ in range(allowed + 2):
            server.feed(b"x" * size + b"\n")
        await asyncio.sleep(0)
        seen.append((len(endpoint.begun), reader.reads))
        for answered in (1, 2):
            endpoint.begun[answered](None)
            for _ in range(4):
                await asyncio.sleep(0)
            seen.append((len(endpoint.begun), reader.reads))
        await server._tasks.cancel_all()
        return seen

    assert asyncio.run(serve()) == [(allowed, False), (allowed + 1, False), (allowed + 2, True)]
