"""MCP over stdio: one message per line on standard input and output.

Descriptors 0 and 1 are redirected while the server runs, so that a `print` in a handler goes to stderr and a
child process cannot read the input. At the end of input every request that was read is still answered. Below this are the
pipes (`stdio_pipes`) and the number of calls at once (`call_window`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from typing import Any, Final

from strictwire.pipeline.call import Caller
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Endpoint, Inbound, Reply
from strictwire.transport.call_window import LARGE, WIDEN_SECONDS, CallWindow
from strictwire.transport.message_tasks import MessageTasks
from strictwire.transport.stdio_pipes import HIGH_WATER, Writer, open_reader, open_writer
from strictwire.wire.framing import LineSplitter, TooLong

MAX_UNSENT: Final = 128 * 1024 * 1024
"""Bytes of answers that may wait for a client that does not read. Calls that were begun before it stopped reading still end,
each with an answer of up to 4 MiB; past this the client is disconnected."""

DRAIN_SECONDS: Final = 60.0
"""How long running calls have after the end of input: twice the default time limit of a tool."""

STOP_SECONDS: Final = 5.0
"""How long running calls have after SIGTERM."""

log = logging.getLogger("strictwire.stdio")


class StdioServer:
    """Serves one endpoint to one client. It is the outlet of every message, because stdio has one stream."""

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
        self._window = CallWindow()
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
        """Serve until the end of input or SIGTERM, then finish the running calls."""
        self._writer = await open_writer(sink, self._pause, self._lose_client)
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):  # no signal handlers on this platform's loop
                self._loop.add_signal_handler(number, stopped.set)
        self._reader = await open_reader(source, self.feed, self._ended.set)
        await _first(self._ended.wait(), stopped.wait())
        self._reader.close()
        self._endpoint.end_input()
        await self._drain(0 if self._is_gone else STOP_SECONDS if stopped.is_set() else DRAIN_SECONDS)
        await self._endpoint.close()
        self._batch.flush()
        self._write()
        await self._writer.close()

    def feed(self, chunk: bytes) -> None:
        """Process bytes that were read; an empty chunk is the end of input."""
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
        if self._widening is None and self._tasks.count >= self._window.size:
            self._widening = self._loop.call_later(WIDEN_SECONDS, self._widen)

    def _widen(self) -> None:
        self._widening = None
        self._window.double(self._tasks.count)
        self._begin()

    def _has_room(self) -> bool:
        return self._batch.waiting_bytes + self._gathered_bytes < HIGH_WATER and self._window.has_room(self._tasks.count)

    def _begin_line(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            inbound = Inbound(body=b"", transport="stdio", caller=self._caller)
            self._deliver(self._endpoint.refuse_oversized(inbound))
            return
        deliver = self._deliver
        if len(line) >= LARGE:
            self._window.begin_large(len(line))
            deliver = partial(self._deliver_large, len(line))
        self._tasks.start(self._endpoint, Inbound(body=line, transport="stdio", caller=self._caller), self, deliver)

    def _deliver(self, reply: Reply | None) -> None:
        if reply is not None and reply.body is not None:
            self._gather(reply.body)
            if self._window.note_answer(len(reply.body)) and self._widening is not None:
                self._widening.cancel()
                self._widening = None
        self._unanswered -= 1
        if not self._unanswered:
            self._idle.set()

    def _deliver_large(self, size: int, reply: Reply | None) -> None:
        """Deliver the answer to a large request, then begin the next one that fits."""
        self._window.end_large(size)
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


@contextmanager
def guarded_descriptors() -> Iterator[tuple[int, int]]:
    """Copies of the real input and output, while descriptor 0 is /dev/null and 1 is stderr.

    `print` writes to the stream of stderr, which may be one that does not block.
    """
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield source, sink
    finally:
        sys.stdout.flush()


async def serve_stdio(endpoint: Endpoint, batch: WriteBatch, *, caller: Caller, max_line: int) -> None:
    """Serve this process's standard input and output."""
    with guarded_descriptors() as (source, sink):
        await StdioServer(endpoint, batch, caller=caller, max_line=max_line).run(source, sink)
