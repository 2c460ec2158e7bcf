"""What a server sends besides responses: progress for one request, changes for subscriptions, log messages, requests.

Every notification passes a rate limit, so that a server cannot occupy its client. The time limits of requests stand still
while the client answers a question of the server: a person may need longer than any request should.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import Callbacks
from strictwire.client.message import id_key
from strictwire.pipeline.limits import TokenBucket

log = logging.getLogger("strictwire.client")

BURST: Final = 2000
"""Notifications that a server may send at once; more are dropped. No progress bar has more steps."""

PER_SECOND: Final = 500.0
"""Notifications a second that are always passed on."""

OnParams: TypeAlias = Callable[[JsonObject], None]
"""Takes the params of a notification."""


def notification_limit() -> TokenBucket:
    """Limits the notifications of one server or stream, so that it cannot flood its client."""
    return TokenBucket(BURST, PER_SECOND, asyncio.get_running_loop().time())


class Inbox:
    """Routes the messages of one server that answer no request."""

    def __init__(self, callbacks: Callbacks) -> None:
        self._callbacks = callbacks
        self._progress: dict[JsonValue, OnParams] = {}
        self._listeners: list[Callable[[str, JsonObject], None]] = []
        self._limits: set[RequestTimeout] = set()
        self._bucket: TokenBucket | None = None

    @property
    def callbacks(self) -> Callbacks:
        """The callbacks for the channel."""
        return Callbacks(on_notification=self._notify, on_request=self._answer, on_stderr=self._callbacks.on_stderr)

    @contextlib.contextmanager
    def progress(self, token: int, on_progress: OnParams | None) -> Iterator[None]:
        """Pass progress notifications with this token to a function, inside of the block."""
        if on_progress is not None:
            self._progress[token] = on_progress
        try:
            yield
        finally:
            self._progress.pop(token, None)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[str, JsonObject], None]) -> Iterator[None]:
        """Pass the method and the params of every other notification to a function, inside of the block."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @contextlib.contextmanager
    def limited(self, timeout: RequestTimeout) -> Iterator[None]:
        """Suspend a time limit while a request of the server is answered, inside of the block."""
        self._limits.add(timeout)
        try:
            yield
        finally:
            self._limits.discard(timeout)

    def _notify(self, message: JsonObject, raw: bytes) -> None:
        self._bucket = self._bucket or notification_limit()
        if not self._bucket.take(asyncio.get_running_loop().time()):
            return
        params = message.get("params")
        given = params if isinstance(params, dict) else {}
        try:
            self._route(message, given, raw)
        except Exception:
            # A callback of the program failed. The connection and its requests must go on.
            log.exception("a callback raised for %s", str(message.get("method"))[:100])

    def _route(self, message: JsonObject, params: JsonObject, raw: bytes) -> None:
        if message.get("method") == "notifications/progress":
            token = params.get("progressToken")
            on_progress = self._progress.get(token) if id_key(token) is not None else None
            if on_progress is not None:
                on_progress(params)
                return
        for listener in tuple(self._listeners):
            listener(str(message.get("method")), params)
        self._callbacks.on_notification(message, raw)

    async def _answer(self, message: JsonObject) -> JsonObject:
        for limit in self._limits:
            limit.suspend()
        try:
            return await self._callbacks.on_request(message)
        finally:
            for limit in self._limits:
                limit.resume()


class RequestTimeout:
    """The time limit of one request. The time while it is suspended does not count."""

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = seconds
        self._suspended = 0
        self.timeout = asyncio.timeout(seconds)

    def suspend(self) -> None:
        """Stop the clock."""
        self._suspended += 1
        ends = self.timeout.when()
        if self._suspended == 1 and ends is not None and not self.timeout.expired():
            self._left = max(0.0, ends - self._loop.time())
            self.timeout.reschedule(None)

    def resume(self) -> None:
        """Start the clock again, once every `suspend` has its `resume`."""
        self._suspended = max(0, self._suspended - 1)
        if not self._suspended and not self.timeout.expired():
            self.timeout.reschedule(self._loop.time() + self._left)
