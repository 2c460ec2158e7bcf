"""The messages of a connection that all requests share: responses in any order, requests and notifications of the server."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.background import BackgroundTasks
from strictwire.client.channel import Callbacks, cancellation
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.client.message import id_key, is_response, parse_message

MAX_ANSWERING: Final = 64
"""Requests of the server that are answered at the same time. Further ones are ignored: a call asks a person or a model a few
times, not a hundred times."""

MAX_SEARCHED: Final = 64 * 1024
"""Bytes of a malformed message in which its id is looked for."""

_ID: Final = re.compile(rb'"id"\s*:\s*([0-9]{1,15})\b')

MAX_QUOTED: Final = 80
"""Bytes of a line that is not a message which are kept: enough to recognize a banner or a log line."""

_PendingResponse: TypeAlias = asyncio.Future[tuple[JsonObject, bytes]]


class MessageRouter:
    """Passes each response to the request that waits for it, and everything else to the callbacks.

    Lines that are not JSON objects, and responses to unknown ids, are ignored.
    """

    def __init__(self, callbacks: Callbacks, write: Callable[[JsonObject], Awaitable[None]]) -> None:
        """`write` sends a message and may raise ClientError."""
        self._callbacks = callbacks
        self._write = write
        self._in_flight: dict[tuple[str, JsonValue], _PendingResponse] = {}
        self._tasks = BackgroundTasks()
        self.first_unreadable = b""
        """The first bytes of the first line that is not a message, to show what the server writes instead."""

    async def request(self, message: JsonObject) -> tuple[JsonObject, bytes]:
        """Send a request and wait for its response. A cancelled request is cancelled at the server. Raises ClientError."""
        key = id_key(message["id"])
        if key is None or key in self._in_flight:
            raise ValueError("a request needs an id that is a string or an integer and not in flight")
        pending: _PendingResponse = asyncio.get_running_loop().create_future()
        self._in_flight[key] = pending
        try:
            await self._write(message)
            return await pending
        except asyncio.CancelledError:
            # In the background: a server that does not read its input must not keep the caller waiting.
            if (cancelled := cancellation(message)) is not None:
                self._tasks.start(self._try_write(cancelled))
            raise
        finally:
            self._in_flight.pop(key, None)

    def take(self, raw: bytes) -> None:
        """Handle one message of the server."""
        try:
            message = parse_message(raw)
        except NotUnderstood as exc:
            self.first_unreadable = self.first_unreadable or raw[:MAX_QUOTED]
            self._fail_malformed(raw, exc)
            return
        if is_response(message):
            self._resolve(message, raw)
        elif id_key(message.get("id")) is not None:
            if len(self._tasks) < MAX_ANSWERING:
                self._tasks.start(self._answer(message))
        elif "method" in message:
            self._callbacks.on_notification(message, raw)

    def fail_all(self, error: ClientError) -> None:
        """Fail every request in flight."""
        in_flight, self._in_flight = self._in_flight, {}
        for pending in in_flight.values():
            if not pending.done():
                pending.set_exception(error)

    async def close(self, error: ClientError) -> None:
        """Stop answering, and fail every request in flight."""
        await self._tasks.cancel()
        self.fail_all(error)

    def _fail_malformed(self, raw: bytes, error: NotUnderstood) -> None:
        """Fail the request that a malformed message seems to answer, which would otherwise wait until it times out."""
        found = _ID.search(raw, 0, MAX_SEARCHED)
        pending = self._in_flight.get(("int", int(found[1]))) if found and raw.startswith(b"{") else None
        if pending is not None and not pending.done():
            pending.set_exception(error)

    def _resolve(self, message: JsonObject, raw: bytes) -> None:
        key = id_key(message.get("id"))
        pending = self._in_flight.get(key) if key is not None else None
        if pending is not None and not pending.done():
            pending.set_result((message, raw))

    async def _answer(self, message: JsonObject) -> None:
        await self._try_write(await self._callbacks.on_request(message))

    async def _try_write(self, message: JsonObject) -> None:
        with contextlib.suppress(ClientError):
            await self._write(message)
