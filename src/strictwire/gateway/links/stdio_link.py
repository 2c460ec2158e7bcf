"""A link to a process over stdio. All requests share one pair of pipes, so the link maps ids and progress tokens.

Messages that belong to no request go to the link's own listener. Messages that break the protocol are dropped:
lines that are no message, answers to no request, second answers, answers to a cancelled request.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from strictwire.canon.json import render
from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.message import Era
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.links.link import Listener, NullListener, UpstreamRequest, cancellation, try_send
from strictwire.gateway.links.raw_message import (
    CANCELLED_ID,
    ENDED_SUBSCRIPTION,
    ID,
    NOTIFIED_SUBSCRIPTION,
    NOTIFIED_TOKEN,
    PROGRESS_TOKEN,
    UpstreamAnswer,
    one_line,
    read_answer,
    read_upstream,
    replace_at,
    replace_id,
    slice_at,
    value_at,
)
from strictwire.gateway.links.reading_watch import READ_SECONDS, ReadingWatch
from strictwire.profiles.mcp.targets import CALLS
from strictwire.wire.envelope import Notification, Request, Response, Unreadable
from strictwire.wire.names import META_LOG_LEVEL, META_SUBSCRIPTION

LISTEN: Final = "subscriptions/listen"
MAX_UNSENT: Final = 16 * 1024 * 1024
"""Bytes that may wait for a process that does not read, four times the largest message. Beyond it the process is ended, as
is one that has read nothing for READ_SECONDS."""

LINES_PER_TURN: Final = 64
"""Lines that are read before other tasks get their turn: an upstream that floods must not block the event loop."""

EXIT_SECONDS: Final = 0.2
"""How long pending requests wait for the exit code of a process that closed its output."""

MAX_KEPT: Final = 200
"""Bytes of a malformed line that are kept for the log."""

OnEnd: TypeAlias = Callable[[ClientError], None]
"""Called once, with the reason, when a process cannot be used any more."""

_ID: Final = re.compile(rb'"id"\s*:\s*([0-9]{1,15})\b')


def _ignore(_reason: ClientError) -> None:
    """The default OnEnd."""


@dataclass(slots=True)
class _Pending:
    """A request that waits for its answer."""

    request: UpstreamRequest
    listener: Listener
    answered: asyncio.Future[tuple[Response, bytes]]
    raw_id: bytes
    """The client's id."""
    token: bytes | None
    """The client's progress token."""


class StdioLink:
    """Reads a process in the background and hands each message to the request that it belongs to."""

    def __init__(self, process: StdioProcess, *, era: Era, listener: Listener, on_end: OnEnd = _ignore) -> None:
        """`listener` gets the messages that belong to no request."""
        self._process = process
        self._era = era
        self._listener = listener
        self._on_end = on_end
        self._pending: dict[int, _Pending] = {}
        self._numbers = itertools.count(1)
        self._unsent = 0
        self._turn = asyncio.Lock()
        """Held by the request that is being written."""
        self._watch = ReadingWatch(lambda: process.unsent, self._give_up)
        self._tasks = BackgroundTasks()
        self._reader = asyncio.create_task(self._read())
        self._closing: asyncio.Future[None] | None = None

    @property
    def alive(self) -> bool:
        """The process still has its output open."""
        return not self._reader.done()

    @property
    def is_busy(self) -> bool:
        """See WatchedLink. A subscription waits for ever, so it says nothing."""
        return any(each.request.method != LISTEN for each in self._pending.values())

    @property
    def is_closed(self) -> bool:
        """The process has ended."""
        return self._closing is not None and self._closing.done()

    def switch_era(self, era: Era, listener: Listener) -> None:
        """Speak another era from now on. No request may be pending."""
        self._era, self._listener = era, listener

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        """See Link. Raises ServerGone, TooLarge, NotUnderstood."""
        number, raw_id, token = next(self._numbers), render(request.id), None
        own_id = b"%d" % number
        line = replace_id(request.raw, raw_id, own_id)
        if "_meta" in request.params and value_at(request.params, "_meta", "progressToken") is not None:
            token = slice_at(request.raw, PROGRESS_TOKEN)
            line = replace_at(line, PROGRESS_TOKEN, own_id)
        answered: asyncio.Future[tuple[Response, bytes]] = asyncio.get_running_loop().create_future()
        self._pending[number] = _Pending(request, listener, answered, raw_id, token)
        try:
            await self.send(line)
            response, raw = await answered
        except asyncio.CancelledError:
            # In the background, because a client that cancels does not wait for the upstream either.
            self._tasks.start(try_send(self, cancellation(request, number)))
            raise
        finally:
            del self._pending[number]
        answer = read_answer(response, replace_id(raw, own_id, raw_id))
        if answer.result and "_meta" in answer.result and value_at(answer.result, "_meta", META_SUBSCRIPTION) == number:
            return msgspec.structs.replace(answer, raw=replace_at(answer.raw, ENDED_SUBSCRIPTION, raw_id))
        return answer

    async def send(self, raw: bytes) -> None:
        """See Link. Raises ServerGone."""
        if self._unsent > MAX_UNSENT:
            self._give_up()
        if self._reader.done() or self._closing is not None:
            raise ServerGone(self._process.exit_code, self._process.stderr_tail)
        self._unsent += len(raw)
        try:
            async with self._turn:
                # What is written stays in the buffer, also if the request is cancelled, so one that waits is not written
                # yet: 300 cancelled calls of 3 MB took 940 MB.
                await self._process.drain()
                self._watch.note_write(len(raw) + 1)
                await self._process.write(one_line(raw) + b"\n")
        finally:
            self._unsent -= len(raw)

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:
        """See Link. One process serves every request, so if it hangs, all of them do."""
        try:
            async with asyncio.timeout(seconds):
                await self.request(request, NullListener())
        except (TimeoutError, ClientError):
            self._on_end(TimedOut("a health check", seconds))
            await self.close()

    def _give_up(self) -> None:
        """The process does not read: end it. The next request starts another, as after any other end."""
        if self._closing is None:
            self._on_end(TimedOut("reading its input", READ_SECONDS))
            self._closing = asyncio.ensure_future(self._close())

    async def close(self) -> None:
        """Stop reading and end the process. A caller that is cancelled does not stop it: no process may be left behind."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        self._watch.close()
        self._reader.cancel()
        await asyncio.gather(self._reader, self._tasks.cancel(), return_exceptions=True)
        self._fail_all(ServerGone())
        await self._process.close()

    async def _read(self) -> None:
        for count in itertools.count():
            if count % LINES_PER_TURN == 0:
                await asyncio.sleep(0)
            try:
                line = await self._process.read_line()
            except TooLarge as exc:
                # The request that it answers is unknown, and to wait on would only look like a slow server.
                self._fail_all(exc)
                continue
            if line is None:
                break
            self._dispatch(line)
        with contextlib.suppress(TimedOut):
            await self._process.wait(EXIT_SECONDS)
        gone = ServerGone(self._process.exit_code, self._process.stderr_tail)
        self._on_end(gone)
        self._fail_all(gone)

    def _dispatch(self, line: bytes) -> None:
        message = read_upstream(line)
        if isinstance(message, Response):
            pending = self._pending.get(message.id) if type(message.id) is int else None
            if pending is not None and not pending.answered.done():
                pending.answered.set_result((message, line))
        elif isinstance(message, Notification):
            self._route_notification(message, line)
        elif isinstance(message, Request):
            self._route_request(message, line)
        else:
            self._refuse(message, line)

    def _refuse(self, unreadable: Unreadable, line: bytes) -> None:
        """Drop a line that is no message. If it shows which request it was meant to answer, that request fails."""
        pending = self._find(unreadable.id)
        if pending is None and b'"jsonrpc"' in line:
            pending = next((each for text in _ID.findall(line) if (each := self._find(int(text)))), None)
        if pending is not None and not pending.answered.done():
            pending.answered.set_exception(NotUnderstood("the answer is no JSON-RPC message", line[:MAX_KEPT]))

    def _find(self, number: object) -> _Pending | None:
        return self._pending.get(number) if type(number) is int else None

    def _route_notification(self, notification: Notification, line: bytes) -> None:
        """Hand a notification to the request whose token, subscription or id it names."""
        for path, client_path in _REFERENCES[self._era]:
            pending = self._find(value_at({"params": notification.params}, *path))
            if pending is not None:
                value = pending.token if client_path is PROGRESS_TOKEN else pending.raw_id
                if value is not None:
                    pending.listener.on_notification(replace_at(line, path, value), notification)
                    return
        if notification.method != "notifications/progress":
            self._route_unreferenced(notification, line)

    def _route_unreferenced(self, notification: Notification, line: bytes) -> None:
        """A notification that names no request. In the legacy era it is the session's; in the stateless era only a log
        message can have an owner: the single request that wants log messages. With several, nothing tells them apart.
        """
        if notification.method == "notifications/message":
            owners = [each.listener for each in self._pending.values() if self._wants_logs(each.request)]
            if len(owners) == 1:
                owners[0].on_notification(line, notification)
                return
        if self._era is Era.LEGACY:
            self._listener.on_notification(line, notification)

    def _wants_logs(self, request: UpstreamRequest) -> bool:
        if self._era is Era.LEGACY:
            return request.method in CALLS
        return value_at(request.params, "_meta", META_LOG_LEVEL) is not None

    def _route_request(self, request: Request, line: bytes) -> None:
        """Hand a request of the upstream to the only running call, or to the session if there are several."""
        if self._era is Era.LEGACY:  # in the stateless era servers send no requests
            running = [each.listener for each in self._pending.values() if each.request.method in CALLS]
            (running[0] if len(running) == 1 else self._listener).on_request(line, request)

    def _fail_all(self, error: ClientError) -> None:
        for pending in self._pending.values():
            if not pending.answered.done():
                pending.answered.set_exception(error)


_REFERENCES: Final = {
    Era.LEGACY: ((NOTIFIED_TOKEN, PROGRESS_TOKEN),),
    Era.MODERN: ((NOTIFIED_TOKEN, PROGRESS_TOKEN), (NOTIFIED_SUBSCRIPTION, ID), (CANCELLED_ID, ID)),
}
"""Where a notification may name its request, and which value of the client's request goes there instead.

A legacy server that cancels means a request of its own, so that is not among them.
"""
