"""A link over Streamable HTTP: one POST for each request, so ids and tokens need no mapping.

In the stateless era that is all. In the legacy era the link has a session: it repeats the session id, keeps the GET stream
open for messages that belong to no request, and resumes a stream that broke off before its answer, where the server can.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone
from strictwire.client.http import HttpClient, HttpStream
from strictwire.client.message import Era, modern_headers
from strictwire.client.sse import Event
from strictwire.gateway.links.background import BackgroundTasks
from strictwire.gateway.links.link import Listener, UpstreamRequest, WatchedLink, cancellation, try_send
from strictwire.gateway.links.raw_message import (
    ANSWER_LIMITS,
    ID,
    UpstreamAnswer,
    one_line,
    read_answer,
    read_upstream,
    replace_at,
)
from strictwire.wire.envelope import Notification, Request, Response

ACCEPT: Final = "application/json, text/event-stream"
RESUME_SECONDS: Final = 1.0
"""Wait before a stream is resumed, where the server does not name one."""

MAX_RESUME_SECONDS: Final = 30.0
"""The longest wait that a server may ask for."""

MAX_RESUMES: Final = 20
"""How often the stream of one request is resumed: with the longest wait, for ten minutes."""

SILENCE_SECONDS: Final = 3600.0
"""Silence on a connection before it counts as dead. Calls have their own, shorter limit."""

CONNECTIONS: Final = 2000
"""Connections to one upstream: each subscription and each session holds one."""

CLOSE_SECONDS: Final = 2.0
"""Time for the DELETE that ends a session. A server that does not answer it ends the session by itself."""

_NO_STREAM: Final = frozenset({HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST})
"""Statuses with which a server says that it offers no GET stream."""


class _StreamPosition:
    """The position in a stream: the last event id, and how long to wait before the stream is resumed."""

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.wait = RESUME_SECONDS

    def note(self, event: Event) -> None:
        self.last_id = event.id if event.id is not None else self.last_id
        if event.retry is not None:
            self.wait = min(event.retry / 1000, MAX_RESUME_SECONDS)


class ConnectionPools(NamedTuple):
    """The connections to one upstream, shared by its links."""

    reused: HttpClient
    """For requests."""
    single_use: HttpClient
    """For messages without a result. Some servers accept such a message before they process it, and close the connection
    if that fails; no request may be on that connection by then."""

    async def close(self) -> None:
        """Close every connection."""
        await self.reused.close()
        await self.single_use.close()


class HttpConnector:
    """A Connector for one URL. All links share its connections."""

    def __init__(self, url: str, *, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self._pools: ConnectionPools | None = None

    async def open(self, era: Era, listener: Listener) -> WatchedLink:
        """See Connector. Nothing is sent yet, so nothing can fail."""
        if self._pools is None:
            self._pools = ConnectionPools(
                HttpClient(seconds=SILENCE_SECONDS, connections=CONNECTIONS),
                HttpClient(seconds=SILENCE_SECONDS, connections=CONNECTIONS, keeps=False),
            )
        return HttpLink(self._url, pools=self._pools, era=era, headers=self._headers, listener=listener)

    def note_end(self) -> None:
        """See Connector. The next request shows whether the server is back."""

    async def close(self) -> None:
        """See Connector."""
        if self._pools is not None:
            await self._pools.close()


class HttpLink:
    """An upstream's endpoint in the stateless era, or one session of it in the legacy era."""

    def __init__(
        self, url: str, *, pools: ConnectionPools, era: Era, headers: Mapping[str, str], listener: Listener
    ) -> None:
        """`listener` gets the messages of the session that belong to no request."""
        self._url = url
        self._pools = pools
        self._era = era
        self._extra = dict(headers)
        self._listener = listener
        self._session_id: str | None = None
        self._version: str | None = None
        self._tasks = BackgroundTasks()
        self.alive = True
        """False once the upstream does not know the session any more."""
        self.is_busy = False
        """Every request has a connection of its own, so a check disturbs none of them."""

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        """See Link. Raises ClientError."""
        headers = self._headers({"method": request.method, "params": request.params}) | dict(request.headers)
        try:
            async with self._pools.reused.stream("POST", self._url, headers=headers, body=request.raw) as response:
                self._check_session(response)
                answer = await self._read(response, request, listener)
        except asyncio.CancelledError:
            # In the stateless era the closed stream is the cancellation. `initialize` must not be cancelled.
            if self._era is Era.LEGACY and request.method != "initialize":
                self._tasks.start(try_send(self, cancellation(request, request.id)))
            raise
        if request.method == "initialize" and answer.result is not None:
            self._session_id = response.headers.get("mcp-session-id")
            version = answer.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        return answer

    async def send(self, raw: bytes) -> None:
        """See Link. Raises ClientError."""
        message = parse_object(raw)
        headers = self._headers(message)
        async with self._pools.single_use.stream("POST", self._url, headers=headers, body=raw) as response:
            self._check_session(response)
            if response.status >= HTTPStatus.MULTIPLE_CHOICES:
                raise NotUnderstood(f"HTTP {response.status} for a notification", status=response.status)
        if message.get("method") == "notifications/initialized":
            self._tasks.start(self._listen())

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:
        """See Link. Every request has its own connection, so silence on one says nothing about the others."""

    async def close(self) -> None:
        """End the session. The connections are shared and stay open."""
        self.alive = False
        await self._tasks.cancel()
        if self._session_id is not None:
            with contextlib.suppress(ClientError, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._pools.single_use.send("DELETE", self._url, headers=self._headers({}))

    def _headers(self, message: JsonObject) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": ACCEPT}
        if self._era is Era.MODERN:
            headers |= modern_headers(message)
        elif self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        return headers | self._extra

    def _check_session(self, response: HttpStream) -> None:
        if response.status == HTTPStatus.NOT_FOUND and self._session_id is not None:
            self.alive = False
            raise ServerGone

    async def _read(self, response: HttpStream, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        if not response.is_event_stream:
            return _read_body(await response.read(), response.status, request)
        listener.on_stream()
        position = _StreamPosition()
        answer = await self._follow(response, request, listener, position)
        for _ in range(MAX_RESUMES):
            if answer is not None or position.last_id is None or self._era is Era.MODERN:
                break
            await asyncio.sleep(position.wait)
            async with self._resume(position) as resumed:
                answer = await self._follow(resumed, request, listener, position)
        if answer is None:
            raise ServerGone
        return answer

    async def _follow(
        self, response: HttpStream, request: UpstreamRequest, listener: Listener, position: _StreamPosition
    ) -> UpstreamAnswer | None:
        """Pass on messages until the answer; None if the stream ends or breaks off before it."""
        with contextlib.suppress(ServerGone):
            async for event in response.events():
                position.note(event)
                answer = _dispatch(event.data, request, listener)
                if answer is not None:
                    return answer
        return None

    @contextlib.asynccontextmanager
    async def _resume(self, position: _StreamPosition) -> AsyncIterator[HttpStream]:
        """A GET stream, from a position if there is one. Raises NotUnderstood: the upstream does not know the position."""
        headers = self._headers({}) | ({"Last-Event-ID": position.last_id} if position.last_id is not None else {})
        headers |= {"Accept": "text/event-stream"}
        headers.pop("Content-Type")
        async with self._pools.reused.stream("GET", self._url, headers=headers) as response:
            if response.status != HTTPStatus.OK or not response.is_event_stream:
                raise NotUnderstood(f"HTTP {response.status} for an event stream", status=response.status)
            yield response

    async def _listen(self) -> None:
        """Keep the GET stream of the session open, for as long as the upstream offers one."""
        position = _StreamPosition()
        while self.alive:
            try:
                async with self._resume(position) as response:
                    async for event in response.events():
                        position.note(event)
                        _dispatch(event.data, None, self._listener)
            except NotUnderstood as exc:
                if exc.status in _NO_STREAM:
                    return
                position.last_id = None
            except (CannotReach, ServerGone):
                position.wait = min(max(position.wait, RESUME_SECONDS) * 2, MAX_RESUME_SECONDS)
            except ClientError:
                position.last_id = None
            await asyncio.sleep(position.wait)


def _dispatch(data: bytes, request: UpstreamRequest | None, listener: Listener) -> UpstreamAnswer | None:
    """Pass on one message of a stream; the answer to the request is returned instead. Raises NotUnderstood."""
    if not data:
        return None
    data = one_line(data)
    match read_upstream(data):
        case Notification() as notification:
            listener.on_notification(data, notification)
        case Request() as question:
            listener.on_request(data, question)
        case Response() as response:
            if request is not None and _answers(response, request):
                return read_answer(response, data)
        case _:
            if request is not None:
                return _read_body(data, HTTPStatus.OK, request)
    return None


def _answers(response: Response, request: UpstreamRequest) -> bool:
    return type(response.id) is type(request.id) and response.id == request.id


def _read_body(body: bytes, status: int, request: UpstreamRequest) -> UpstreamAnswer:
    """A whole answer. An error may lack its id, because the POST tells which request it answers. Raises NotUnderstood."""
    body = one_line(body)
    read = read_upstream(body)
    if isinstance(read, Response) and _answers(read, request):
        return read_answer(read, body, status)
    try:
        message = parse_object(body, ANSWER_LIMITS)
    except NotStrict as exc:
        raise NotUnderstood(f"HTTP {status} without a JSON-RPC message", body, status) from exc
    error = message.get("error")
    if message.get("id") is None and isinstance(error, dict) and "result" not in message:
        return read_answer(Response(request.id, None, error), replace_at(body, ID, render(request.id)), status)
    raise NotUnderstood(f"HTTP {status} with a message that does not answer the request", body, status)
