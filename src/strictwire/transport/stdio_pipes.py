"""The pipes of a stdio server: reads standard input and writes standard output without blocking the event loop.

The event loop reads pipes; a thread reads files and terminals, which the loop cannot wait for. A client that does not read
pauses the server (`pause`), and is disconnected if it reads nothing for long.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

CHUNK: Final = 256 * 1024
"""Bytes that one read of a file or terminal takes, as asyncio does for pipes."""

HIGH_WATER: Final = 1024 * 1024
"""Bytes of answers that may wait for a client that does not read. Past it no further request is begun."""

WRITE_SECONDS: Final = 300.0
"""A client that is behind and has read nothing for this long is disconnected. It may be stopped in a debugger meanwhile."""

log = logging.getLogger("strictwire.stdio")


class Writer(Protocol):
    """The output of the server."""

    @property
    def unsent(self) -> int:
        """Bytes that wait for the client."""

    def write(self, data: bytes) -> None:
        """Write or buffer whole lines, without waiting."""

    def abort(self) -> None:
        """Drop what is unsent and disconnect."""

    async def close(self) -> None:
        """Return when everything is written, or the client has read nothing for WRITE_SECONDS."""


def _is_pollable(descriptor: int) -> bool:
    """Pipes and sockets. Terminals are left alone: making one non-blocking would change it for every other process."""
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class _PipeReader(asyncio.Protocol):
    def __init__(self, feed: Any, end: Any) -> None:
        self._feed, self._end = feed, end
        self._transport: Any = None
        self._is_paused = False
        """Kept here: pipe transports have no `is_reading` before Python 3.11.4."""

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
        if not self._is_paused and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    def close(self) -> None:
        self._transport.close()


class _ThreadReader:
    """Reads files and terminals on a thread, because the event loop cannot wait for them."""

    def __init__(self, source: int, feed: Any, end: Any) -> None:
        self._loop = asyncio.get_running_loop()
        self._go = threading.Event()
        self._go.set()
        self._source, self._feed, self._end = source, feed, end
        threading.Thread(target=self._read, name="strictwire-stdin", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, RuntimeError):  # the descriptor or the event loop is closed, so nothing is left to read for
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


async def open_reader(source: int, feed: Any, end: Any) -> Any:
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
    """Writes to a file or a terminal, which never falls behind: the write blocks instead."""

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


def _enlarge(sink: int) -> None:
    """Enlarge the buffer of a pipe to a burst of large answers: asyncio copies the rest again after each partial write."""
    if sys.platform == "linux":
        with suppress(OSError):  # not a pipe, or more than this user may have
            fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, HIGH_WATER)


async def open_writer(sink: int, pause: Callable[[bool], None], lose: Callable[[], None]) -> Writer:
    if not _is_pollable(sink):
        return _FileWriter(sink)
    _enlarge(sink)
    pipe = os.fdopen(sink, "wb", buffering=0, closefd=True)
    _, writer = await asyncio.get_running_loop().connect_write_pipe(lambda: _PipeWriter(pause, lose), pipe)
    return writer
