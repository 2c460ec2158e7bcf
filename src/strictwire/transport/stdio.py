"""One message a line over standard input and output.

Descriptors 0 and 1 are taken away from the process while it serves, so that a `print` in a handler goes to stderr and a
child process cannot read the input. The event loop reads pipes; a thread reads files and terminals, which the loop cannot
wait for. At the end of input every request that was read is still answered.
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
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, Protocol

from strictwire.pipeline.call import Caller
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Endpoint, Inbound, Reply
from strictwire.transport.message_tasks import MessageTasks
from strictwire.wire.framing import LineSplitter, TooLong

CHUNK: Final = 256 * 1024
"""Bytes that one read of a file or terminal takes."""

HIGH_WATER: Final = 1024 * 1024
"""Bytes of answers that may wait for a client that does not read. Past it no further request is begun."""

MAX_UNSENT: Final = 128 * 1024 * 1024
"""Bytes of answers that may wait for a client that does not read. Calls that were begun before it stopped reading still end,
each with an answer of up to 4 MiB; past this the client is disconnected."""

MAX_IN_FLIGHT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of requests that are being answered. Past it no further request is begun until one of them is answered."""

_LARGE: Final = 64 * 1024
"""Bytes of a request that counts towards that; smaller ones are limited by their number, `MAX_IN_FLIGHT`. An answer of this
size makes the window smaller."""

_FIRST_WINDOW: Final = 16
_LEAST_WINDOW: Final = 8
_WIDEN_SECONDS: Final = 0.1
"""The window is the number of calls that may run at once. It bounds the answers that arrive before the first of them is
found to be large: each small answer widens it by one, each large one halves it, and calls that only wait double it in time.
"""

WRITE_SECONDS: Final = 300.0
"""A client that is behind and has read nothing for this long is disconnected. It may be stopped in a debugger meanwhile."""

DRAIN_SECONDS: Final = 60.0
"""How long running calls have after the end of input: twice the default time limit of a tool."""

STOP_SECONDS: Final = 5.0
"""How long running calls have after SIGTERM."""

log = logging.getLogger("strictwire.stdio")


class Writer(Protocol):
    """Where lines go."""

    @property
    def unsent(self) -> int:
        """Bytes that wait for the client."""

    def write(self, data: bytes) -> None:
        """Take whole lines; never waits."""

    def abort(self) -> None:
        """Drop what waits."""

    async def close(self) -> None:
        """Return when everything is written, or the client has read nothing for WRITE_SECONDS."""


class StdioServer:
    """Serves one endpoint to one client. It is the outlet of every message: there is one stream, and it is open."""

    def __init__(self, endpoint: Endpoint, batch: WriteBatch, *, caller: Caller, max_line: int) -> None:
        self._endpoint = endpoint
        self._batch = batch
        self._caller = caller
        self._splitter = LineSplitter(max_line)
        self._tasks = MessageTasks()
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes | TooLong] = deque()
        """Lines that were read and not begun."""
        self._gathered: list[bytes] = []
        """Lines that leave with the next write."""
        self._gathered_bytes = 0
        self._unanswered = 0
        self._large_bytes = 0
        """Bytes of the large requests that are being answered."""
        self._window = _FIRST_WINDOW
        self._widening: asyncio.TimerHandle | None = None
        self._is_full = False
        """Whether the client does not read its answers."""
        self._is_gone = False
        """Whether the client cannot be answered any more."""
        self._idle = asyncio.Event()
        """Set while nothing is unanswered."""
        self._ended = asyncio.Event()
        self._writer: Writer
        self._reader: Any

    async def run(self, source: int, sink: int) -> None:
        """Serve until the end of input or SIGTERM, then finish what was begun."""
        self._writer = await _open_writer(sink, self._pause, self._lose_client)
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):  # no signal handlers on this platform's loop
                self._loop.add_signal_handler(number, stopped.set)
        self._reader = await _open_reader(source, self.feed, self._ended.set)
        await _first(self._ended.wait(), stopped.wait())
        self._reader.close()
        self._endpoint.end_input()
        await self._drain(0 if self._is_gone else STOP_SECONDS if stopped.is_set() else DRAIN_SECONDS)
        await self._endpoint.close()
        self._batch.flush()
        self._write()
        await self._writer.close()

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they are read; an empty chunk is the end of input."""
        if self._is_gone:
            return
        lines = self._splitter.feed(chunk) if chunk else self._splitter.finish()
        self._waiting.extend(lines)
        self._unanswered += len(lines)
        self._begin()

    def _begin(self) -> None:
        """Begin the requests that were read, as long as there is room for them and their answers."""
        waiting, batch = self._waiting, self._batch
        while waiting and not self._is_full and self._has_room():
            with batch:
                while waiting and self._has_room():
                    self._begin_line(waiting.popleft())
        if not waiting:
            if not self._is_full:
                self._reader.resume()
            return
        self._reader.pause()
        if self._widening is None and self._tasks.count >= self._window:
            self._widening = self._loop.call_later(_WIDEN_SECONDS, self._widen)

    def _widen(self) -> None:
        self._widening = None
        self._window = 2 * max(self._window, self._tasks.count)
        self._begin()

    def _narrow(self) -> None:
        self._window = max(self._window // 2, _LEAST_WINDOW)
        if self._widening is not None:
            self._widening.cancel()
            self._widening = None

    def _has_room(self) -> bool:
        has_room = self._batch.waiting_bytes + self._gathered_bytes < HIGH_WATER
        return has_room and self._tasks.count < self._window and self._large_bytes < MAX_IN_FLIGHT_BYTES

    def _begin_line(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            inbound = Inbound(body=b"", transport="stdio", caller=self._caller)
            self._deliver(self._endpoint.refuse_oversized(inbound))
            return
        deliver = self._deliver
        if len(line) >= _LARGE:
            self._large_bytes += len(line)
            deliver = partial(self._deliver_large, len(line))
        self._tasks.start(self._endpoint, Inbound(body=line, transport="stdio", caller=self._caller), self, deliver)

    def _deliver(self, reply: Reply | None) -> None:
        if reply is not None and reply.body is not None:
            self._gather(reply.body)
            if len(reply.body) < _LARGE:
                self._window += 1
            else:
                self._narrow()
        self._unanswered -= 1
        if not self._unanswered:
            self._idle.set()

    def _deliver_large(self, size: int, reply: Reply | None) -> None:
        """The answer to a large request: there is room for another."""
        self._large_bytes -= size
        self._deliver(reply)
        self._loop.call_soon(self._begin)

    def _gather(self, line: bytes) -> None:
        """Write a line at the end of the batch: lines that leave together share one write."""
        if not self._gathered:
            self._batch.add_send(self._write)
        self._gathered.append(line)
        self._gathered_bytes += len(line)

    def _write(self) -> None:
        if self._gathered:
            gathered, self._gathered, size, self._gathered_bytes = self._gathered, [], self._gathered_bytes, 0
            if self._is_gone:
                return
            if size + self._writer.unsent > MAX_UNSENT:
                log.warning("the client does not read: %d bytes wait for it, it is disconnected", self._writer.unsent)
                self._writer.abort()
                return
            gathered.append(b"")
            self._writer.write(b"\n".join(gathered))
            if self._waiting:
                self._loop.call_soon(self._begin)

    def _lose_client(self) -> None:
        """The client has closed its end, or was disconnected: nothing more can be answered, so nothing more is begun."""
        self._is_gone = True
        self._unanswered -= len(self._waiting)
        self._waiting.clear()
        self._ended.set()

    def open(self) -> None:
        """See Outlet: the stream is open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """See Outlet: an interim message is a line like any other; an event without one has no meaning here."""
        if message:
            self._gather(message)
        return True

    def close(self) -> None:
        """See Outlet: the stream belongs to the process and stays open."""

    def _pause(self, is_full: bool) -> None:
        self._is_full = is_full
        if is_full:
            self._reader.pause()
        else:
            self._begin()

    async def _drain(self, seconds: float) -> None:
        self._idle.clear()
        if self._unanswered:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), seconds)
        await self._tasks.cancel_all()


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
    def __init__(self, pause: Callable[[bool], None], lose: Callable[[], None]) -> None:
        self._pause, self._lose = pause, lose
        self._loop = asyncio.get_running_loop()
        self._gone = self._loop.create_future()
        self._transport: Any = None
        self._last_unsent = 0
        self._timer: asyncio.TimerHandle | None = None
        """Set while the client is behind."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def pause_writing(self) -> None:
        self._expect_progress()
        self._pause(True)

    def resume_writing(self) -> None:
        self._stop_timer()
        self._pause(False)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._stop_timer()
        if not self._gone.done():
            self._gone.set_result(None)
        self._lose()

    @property
    def unsent(self) -> int:
        return int(self._transport.get_write_buffer_size())

    def write(self, line: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(line)

    def abort(self) -> None:
        self._transport.abort()

    async def close(self) -> None:
        self._expect_progress()  # first: closing waits for the client to read what is unsent
        self._transport.close()
        await self._gone

    def _expect_progress(self) -> None:
        """Disconnect the client unless it reads something in time."""
        self._stop_timer()
        self._last_unsent = self.unsent
        self._timer = self._loop.call_later(WRITE_SECONDS, self._check_progress)

    def _check_progress(self) -> None:
        if self.unsent < self._last_unsent:
            self._expect_progress()
        else:
            log.warning("the client has read nothing for %d s, it is disconnected", WRITE_SECONDS)
            self.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _FileWriter:
    """A file or a terminal takes what it is given."""

    unsent = 0

    def __init__(self, sink: int) -> None:
        self._file = os.fdopen(sink, "wb", buffering=0)

    def abort(self) -> None:
        """Nothing waits."""

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


async def _open_writer(sink: int, pause: Callable[[bool], None], lose: Callable[[], None]) -> Writer:
    if not _is_pollable(sink):
        return _FileWriter(sink)
    _widen(sink)
    pipe = os.fdopen(sink, "wb", buffering=0, closefd=True)
    _, writer = await asyncio.get_running_loop().connect_write_pipe(lambda: _PipeWriter(pause, lose), pipe)
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


async def serve_stdio(endpoint: Endpoint, batch: WriteBatch, *, caller: Caller, max_line: int) -> None:
    """Serve this process's standard input and output."""
    with guarded_descriptors() as (source, sink):
        await StdioServer(endpoint, batch, caller=caller, max_line=max_line).run(source, sink)
