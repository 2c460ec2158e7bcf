"""MCP and its siblings over standard input and output: one message a line.

Descriptors 0 and 1 are taken away from the process while it serves, so that a `print` in a handler goes to stderr and a
child process cannot eat the input. Pipes are read by the event loop; files and terminals, which it cannot wait for, by a
thread. At the end of input everything that was asked is still answered.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import stat
import sys
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol

from strictwire.pipeline.call import Caller
from strictwire.pipeline.soon import soon_of
from strictwire.profiles.exchange import Endpoint, Inbound, Reply, Rest, answering
from strictwire.transport.pump import Pump
from strictwire.wire.framing import LineSplitter, TooLong

CHUNK: Final = 256 * 1024
WORTH_HALVING: Final = 32
"""Lines that came at once and are answered in two halves: the client goes on with the first while we do the second."""

HIGH_WATER: Final = 1024 * 1024
"""Bytes that may wait for a slow reader before we stop reading its requests."""

DRAIN_SECONDS: Final = 60.0
"""How long running calls have after the end of input: twice the default time limit of a tool."""

STOP_SECONDS: Final = 5.0
"""How long running calls have after SIGTERM."""


log = logging.getLogger("strictwire.stdio")


class Writer(Protocol):
    """Where lines go."""

    def write(self, line: bytes) -> None:
        """Take one line; never waits."""

    async def close(self) -> None:
        """Return when everything is written or cannot be."""


class Lines:
    """The stream of lines out, gathered so that answers which leave together share one write."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._soon = soon_of(asyncio.get_running_loop())
        self._gathered: list[bytes] = []

    def write(self, line: bytes) -> None:
        """Write a line before the event loop waits again."""
        if not self._gathered:
            self._soon.call(self.flush)
        self._gathered.append(line)

    async def close(self) -> None:
        """Return when everything is written or cannot be."""
        self.flush()
        await self._writer.close()

    def flush(self) -> None:
        """Write what was gathered."""
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            gathered.append(b"")
            self._writer.write(b"\n".join(gathered))


class LineOutlet:
    """Interim messages are lines like any other."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def open(self) -> None:
        """There is one stream, and it is open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """Write a line; an event without a message is of no use here."""
        if message:
            self._lines.write(message)
        return True

    def close(self) -> None:
        """The stream stays: it belongs to the process."""


class StdioServer:
    """Serves one endpoint to one client."""

    def __init__(self, endpoint: Endpoint, *, caller: Caller, max_line: int) -> None:
        self._endpoint = endpoint
        self._answer = answering(endpoint)
        self._caller = caller
        self._splitter = LineSplitter(max_line)
        self._pump = Pump()
        self._soon = soon_of(asyncio.get_running_loop())
        self._owed = 0
        """Messages that are not answered yet."""
        self._quiet: asyncio.Event | None = None
        """Told when nothing is owed any more, by whoever waits for that at the end."""
        self._ended = asyncio.Event()
        self._lines: Lines
        self._outlet: LineOutlet

    async def run(self, source: int, sink: int) -> None:
        """Serve until the end of input or SIGTERM, then finish what was begun."""
        loop = asyncio.get_running_loop()
        self._lines = Lines(await _open_writer(sink, self._pause))
        self._outlet = LineOutlet(self._lines)
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):  # no signal handlers on this platform's loop
                loop.add_signal_handler(number, stopped.set)
        self._reader = await _open_reader(source, self.feed, self._ended.set)
        await _first(self._ended.wait(), stopped.wait())
        self._reader.close()
        self._endpoint.end_input()
        await self._drain(STOP_SECONDS if stopped.is_set() else DRAIN_SECONDS)
        self._pump.close()
        await self._endpoint.close()
        await self._lines.close()

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they come; an empty chunk is the end."""
        lines = self._splitter.feed(chunk) if chunk else self._splitter.finish()
        self._owed += len(lines)
        if len(lines) < WORTH_HALVING or self._soon.is_dear:
            self._begin(lines)
        else:
            half = len(lines) // 2
            try:
                self._begin(lines[:half])
            finally:  # whatever became of the first, nobody waits in vain for the second
                self._begin(lines[half:])

    def _begin(self, lines: Sequence[bytes | TooLong]) -> None:
        with self._soon:
            self._pump.begin_each(self._serve, lines)

    def _serve(self, line: bytes | TooLong) -> Rest:
        if isinstance(line, TooLong):
            self._deliver(self._endpoint.refuse_oversized(Inbound(body=b"", transport="stdio", caller=self._caller)))
            return None
        inbound = Inbound(body=line, transport="stdio", caller=self._caller)
        try:
            rest = self._answer(inbound, self._outlet, self._deliver)
        except Exception as exc:  # noqa: BLE001 - contains our own faults: nobody may wait for an answer that never comes
            self._refuse_fault(exc, inbound)
            return None
        return None if rest is None else self._finish(rest, inbound)

    async def _finish(self, rest: Coroutine[Any, Any, None], inbound: Inbound) -> None:
        try:
            await rest
        except asyncio.CancelledError:  # a cancelled request has no answer
            self._deliver(Reply())
        except Exception as exc:  # noqa: BLE001 - contains our own faults, as above
            self._refuse_fault(exc, inbound)

    def _refuse_fault(self, exc: Exception, inbound: Inbound) -> None:
        log.error("a fault in %s", type(self._endpoint).__name__, exc_info=exc)
        self._deliver(self._endpoint.refuse_fault(inbound))

    def _deliver(self, reply: Reply) -> None:
        if reply.body is not None:
            self._lines.write(reply.body)
        self._owed -= 1
        if self._quiet is not None and not self._owed:
            self._quiet.set()

    def _pause(self, full: bool) -> None:
        self._reader.pause() if full else self._reader.resume()

    async def _drain(self, seconds: float) -> None:
        if self._owed:
            self._quiet = asyncio.Event()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._quiet.wait(), seconds)
        late = tuple(self._pump.tasks)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


async def _first(*waits: Any) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


def _is_pollable(descriptor: int) -> bool:
    """Pipes and sockets. Terminals are left alone: making one non-blocking would change it for every other process."""
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class _PipeReader(asyncio.Protocol):
    def __init__(self, feed: Any, end: Any) -> None:
        self._feed, self._end = feed, end
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.max_size = CHUNK

    def data_received(self, data: bytes) -> None:
        self._feed(data)

    def eof_received(self) -> None:
        self._feed(b"")
        self._end()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._end()

    def pause(self) -> None:
        if self._transport.is_reading():
            self._transport.pause_reading()

    def resume(self) -> None:
        if not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()

    def close(self) -> None:
        self._transport.close()


class _ThreadReader:
    """Reads what the event loop cannot wait for."""

    def __init__(self, source: int, feed: Any, end: Any) -> None:
        self._loop = asyncio.get_running_loop()
        self._go = threading.Event()
        self._go.set()
        self._source, self._feed, self._end = source, feed, end
        threading.Thread(target=self._read, name="strictwire-stdin", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, RuntimeError):  # the descriptor or the loop is gone: so is the client
            while chunk := os.read(self._source, CHUNK):
                self._go.wait()
                self._loop.call_soon_threadsafe(self._feed, chunk)
            self._loop.call_soon_threadsafe(self._feed, b"")
            self._loop.call_soon_threadsafe(self._end)

    def pause(self) -> None:
        self._go.clear()

    def resume(self) -> None:
        self._go.set()

    def close(self) -> None:
        self._go.set()


async def _open_reader(source: int, feed: Any, end: Any) -> Any:
    if not _is_pollable(source):
        return _ThreadReader(source, feed, end)
    pipe = os.fdopen(source, "rb", buffering=0, closefd=True)
    _, reader = await asyncio.get_running_loop().connect_read_pipe(lambda: _PipeReader(feed, end), pipe)
    return reader


class _PipeWriter(asyncio.BaseProtocol):
    def __init__(self, pause: Any) -> None:
        self._pause = pause
        self._gone = asyncio.get_running_loop().create_future()
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def pause_writing(self) -> None:
        self._pause(True)

    def resume_writing(self) -> None:
        self._pause(False)

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self._gone.done():
            self._gone.set_result(None)

    def write(self, line: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(line)

    async def close(self) -> None:
        self._transport.close()
        await self._gone


class _FileWriter:
    """A file or a terminal takes what it is given."""

    def __init__(self, sink: int) -> None:
        self._file = os.fdopen(sink, "wb", buffering=0)

    def write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    async def close(self) -> None:
        self._file.close()


def _widen(sink: int) -> None:
    """Let a pipe take a burst of large answers at once: what does not fit is copied again for every part that does."""
    if sys.platform == "linux":
        with suppress(OSError):  # not a pipe, or more than this user may have
            fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, HIGH_WATER)


async def _open_writer(sink: int, pause: Any) -> Writer:
    if not _is_pollable(sink):
        return _FileWriter(sink)
    _widen(sink)
    pipe = os.fdopen(sink, "wb", buffering=0, closefd=True)
    _, writer = await asyncio.get_running_loop().connect_write_pipe(lambda: _PipeWriter(pause), pipe)
    return writer


@contextmanager
def guarded_descriptors() -> Iterator[tuple[int, int]]:
    """The real input and output, while 0 is empty and 1 goes where 2 goes."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    try:
        yield source, sink
    finally:
        sys.stdout.flush()


async def serve_stdio(endpoint: Endpoint, *, caller: Caller, max_line: int) -> None:
    """Serve this process's standard input and output."""
    with guarded_descriptors() as (source, sink):
        await StdioServer(endpoint, caller=caller, max_line=max_line).run(source, sink)
