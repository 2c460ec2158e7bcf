"""A channel over Streamable HTTP: one POST per message; the response is JSON or an event of a stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.background import BackgroundTasks
from strictwire.client.channel import NO_HEADERS, Callbacks, cancellation
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.client.message import Era, id_key, is_response, parse_message
from strictwire.client.router import MAX_ANSWERING
from strictwire.client.streamable import ConnectionPools, StreamableHttp

LISTEN_SECONDS: Final = 1.0
"""How long to wait for the GET stream. Some servers send its headers only with the first message."""

_Response: TypeAlias = tuple[JsonObject, bytes]


class HttpChannel:
    """A channel to one URL."""

    def __init__(self, url: str, *, pools: ConnectionPools, headers: Mapping[str, str], callbacks: Callbacks) -> None:
        """The channel closes the pools."""
        self._pools = pools
        self._http = StreamableHttp(url, pools=pools, headers=headers, era=Era.MODERN)
        self._callbacks = callbacks
        self._tasks = BackgroundTasks()
        self._is_listening = False
        self._pending: dict[tuple[str, JsonValue] | None, asyncio.Future[_Response]] = {}
        """Requests that wait for a response, while there is a GET stream."""

    @property
    def alive(self) -> bool:
        """Whether the server knows the session, as far as we know. Without a session, always."""
        return self._http.is_known

    def use_era(self, era: Era, version: str | None) -> None:
        """See Channel."""
        self._http.era, self._http.version = era, version

    async def listen(self) -> None:
        """See Channel. Returns when the stream is open, so that no message is sent before: a server drops it then."""
        if self._http.era is not Era.LEGACY:
            return
        is_open = asyncio.Event()
        listening = self._tasks.start(self._http.listen(self._take, is_open.set))
        listening.add_done_callback(lambda _task: is_open.set())  # the server offers no such stream
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTEN_SECONDS):
                await is_open.wait()
        self._is_listening = not listening.done()

    async def request(self, message: JsonObject, headers: Mapping[str, str] = NO_HEADERS) -> _Response:
        """See Channel. Raises CannotReach, ServerGone, TimedOut, TooLarge, NotUnderstood."""
        posting = self._http.request(
            message,
            json.render(message),
            headers=headers,
            read_body=partial(_read_body, message),
            read_event=partial(self._take_event, message),
        )
        try:
            return await (self._first_response(message, posting) if self._is_listening else posting)
        except asyncio.CancelledError:
            # In the stateless era the closed connection is the cancellation.
            if self._http.era is Era.LEGACY and (cancelled := cancellation(message)) is not None:
                self._tasks.start(self._try_notify(cancelled))
            raise

    async def _first_response(self, message: JsonObject, posting: Coroutine[Any, Any, _Response]) -> _Response:
        """The response on the POST, or on the GET stream: a server may send it there after the POST broke off."""
        elsewhere: asyncio.Future[_Response] = asyncio.get_running_loop().create_future()
        key = id_key(message["id"])
        self._pending[key] = elsewhere
        posted = asyncio.ensure_future(posting)
        try:
            await asyncio.wait((posted, elsewhere), return_when=asyncio.FIRST_COMPLETED)
            return elsewhere.result() if elsewhere.done() else posted.result()
        finally:
            del self._pending[key]
            posted.cancel()
            await asyncio.gather(posted, return_exceptions=True)

    async def notify(self, message: JsonObject) -> None:
        """POST a notification. Raises CannotReach, ServerGone, TimedOut, NotUnderstood."""
        await self._http.send(message, json.render(message))

    async def close(self) -> None:
        """End the legacy session, if there is one, and close the connections."""
        await self._tasks.cancel()
        await self._http.end_session()
        await self._pools.close()

    def _take_event(self, request: JsonObject, data: bytes) -> _Response | None:
        """The response to the request; every other message is passed on. Raises NotUnderstood."""
        if not data:  # an event that only carries an id, for resuming the stream
            return None
        message = parse_message(data)
        if is_response(message):
            return (message, data) if _answers(message, request) else None
        self._pass_on(message, data)
        return None

    def _take(self, data: bytes) -> None:
        """Handle a message of the GET stream. A malformed one is ignored."""
        if not data:
            return
        with contextlib.suppress(NotUnderstood):
            message = parse_message(data)
            if not is_response(message):
                self._pass_on(message, data)
                return
            pending = self._pending.get(id_key(message.get("id")))
            if pending is not None and not pending.done():
                pending.set_result((message, data))

    def _pass_on(self, message: JsonObject, data: bytes) -> None:
        if id_key(message.get("id")) is None:
            self._callbacks.on_notification(message, data)
        elif len(self._tasks) < MAX_ANSWERING:
            self._tasks.start(self._answer(message))

    async def _answer(self, message: JsonObject) -> None:
        await self._try_notify(await self._callbacks.on_request(message))  # a response is sent like a notification

    async def _try_notify(self, message: JsonObject) -> None:
        with contextlib.suppress(ClientError):
            await self.notify(message)


def _read_body(request: JsonObject, body: bytes, status: int) -> _Response:
    try:
        message = parse_message(body)
    except NotUnderstood as exc:
        raise NotUnderstood(f"HTTP {status} without a JSON-RPC message", body, status) from exc
    if not is_response(message) or not _answers(message, request):
        raise NotUnderstood(f"HTTP {status} with a message that does not answer the request", body, status)
    return message, body


def _answers(message: JsonObject, request: JsonObject) -> bool:
    """Whether the response has the id of the request, in type and value. An error may have no id: it belongs to its POST."""
    response_id = message.get("id")
    if response_id is None:
        return "error" in message
    return id_key(response_id) == id_key(request["id"])
