"""Streamable HTTP to one URL: headers, the session id, and the streams that carry responses. Moves bytes, parses no message.

`http_channel` (sessions) and the guard's `http_link` use it. In the stateless era a request is one POST. In the legacy era
there is a session: its id is repeated, a GET stream carries messages that belong to no request, and a stream that broke off
before its response is resumed, where the server can.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias, TypeVar

from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, SessionExpired
from strictwire.client.http import HttpClient, HttpStream
from strictwire.client.message import Era, modern_headers
from strictwire.client.sse import Event

ACCEPT: Final = "application/json, text/event-stream"

RESUME_SECONDS: Final = 1.0
"""Wait before a stream is resumed, where the server does not name one."""

MAX_RESUME_SECONDS: Final = 30.0
"""The longest wait that a server may ask for."""

MIN_LISTEN_SECONDS: Final = 0.1
"""The shortest wait before the stream of a session is opened again, which has no end: a server that asks for no wait and
closes it at once would keep the client busy."""

MAX_RESUMES: Final = 20
"""How often the stream of one request is resumed: with the longest wait, for ten minutes."""

SILENCE_SECONDS: Final = 3600.0
"""Silence on a connection before it counts as dead. Requests have their own, shorter limit."""

CLOSE_SECONDS: Final = 2.0
"""Time for the DELETE that ends a session. A server that does not answer it ends the session by itself."""

MAX_SESSION_ID: Final = 1024
"""Characters of a session id, which every later request repeats."""

_NO_STREAM: Final = frozenset({HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST})
"""Statuses with which a server says that it offers no GET stream."""

Answer = TypeVar("Answer")

ReadEvent: TypeAlias = Callable[[bytes], Answer | None]
"""Takes the data of one event. Returns the response if it is the one that the request waits for. Raises NotUnderstood."""


class StreamPosition:
    """The position in a stream: the last event id, and how long to wait before the stream is resumed."""

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.wait = RESUME_SECONDS

    def note(self, event: Event) -> None:
        """Remember the position after an event."""
        self.last_id = event.id if event.id is not None else self.last_id
        if event.retry is not None:
            self.wait = min(event.retry / 1000, MAX_RESUME_SECONDS)


class ConnectionPools(NamedTuple):
    """The connections to one server."""

    reused: HttpClient
    """For requests."""
    single_use: HttpClient
    """For messages without a result. Some servers accept such a message before they process it, and close the connection
    if that fails; no request may be on that connection by then."""

    @classmethod
    def open(cls, connections: int) -> ConnectionPools:
        """Pools of at most this many connections each. Nothing is connected yet."""
        return cls(
            HttpClient(seconds=SILENCE_SECONDS, connections=connections),
            HttpClient(seconds=SILENCE_SECONDS, connections=connections, keeps=False),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self.reused.close()
        await self.single_use.close()


class StreamableHttp:
    """One endpoint in the stateless era, or one session of it in the legacy era."""

    def __init__(self, url: str, *, pools: ConnectionPools, headers: Mapping[str, str], era: Era) -> None:
        self._url = url
        self._pools = pools
        self._extra = dict(headers)
        self.era = era
        self.version: str | None = None
        """The negotiated legacy version, which every later request repeats."""
        self._session_id: str | None = None
        self.is_known = True
        """False once the server does not know the session any more."""

    async def request(
        self,
        message: JsonObject,
        raw: bytes,
        *,
        headers: Mapping[str, str],
        read_body: Callable[[bytes, int], Answer],
        read_event: ReadEvent[Answer],
        on_stream: Callable[[], None] = lambda: None,
    ) -> Answer:
        """POST a request and read its response. `message` needs only `method` and `params`. Raises ClientError."""
        sent = self._headers(message) | dict(headers)
        async with self._pools.reused.stream("POST", self._url, headers=sent, body=raw) as response:
            self._check_session(response)
            if message.get("method") == "initialize" and response.status == HTTPStatus.OK:
                self._session_id = _session_id(response)
            if not response.is_event_stream:
                return read_body(await response.read(), response.status)
            on_stream()
            return await self._read_stream(response, read_event)

    async def send(self, message: JsonObject, raw: bytes) -> None:
        """POST a notification or a response. Raises ClientError."""
        async with self._pools.single_use.stream("POST", self._url, headers=self._headers(message), body=raw) as response:
            self._check_session(response)
            if response.status >= HTTPStatus.MULTIPLE_CHOICES:
                raise NotUnderstood(f"HTTP {response.status} for a notification", status=response.status)

    async def listen(self, read_event: Callable[[bytes], object], on_open: Callable[[], None] = lambda: None) -> None:
        """Keep the GET stream of the session open, for as long as the server offers one."""
        position, was_open = StreamPosition(), False
        while self.is_known:
            try:
                async with self._resume(position) as response:
                    was_open = True
                    on_open()
                    async for event in response.events():
                        position.note(event)
                        read_event(event.data)
            except NotUnderstood as exc:
                if exc.status in _NO_STREAM:
                    # A server that offered the stream does not know the session any more.
                    self.is_known = not (was_open and exc.status == HTTPStatus.NOT_FOUND)
                    return
                position.last_id = None
            except (CannotReach, ServerGone):
                position.wait = min(max(position.wait, RESUME_SECONDS) * 2, MAX_RESUME_SECONDS)
            except ClientError:
                position.last_id = None
            await asyncio.sleep(max(position.wait, MIN_LISTEN_SECONDS))

    async def end_session(self) -> None:
        """End the session, if there is one. The connections stay open. Never raises ClientError."""
        if self._session_id is None or not self.is_known:
            return
        self.is_known = False
        with contextlib.suppress(ClientError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._pools.single_use.send("DELETE", self._url, headers=self._headers({}))

    def _headers(self, message: JsonObject) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": ACCEPT}
        if self.era is Era.MODERN:
            headers |= modern_headers(message)
        elif self.version is not None:
            headers["MCP-Protocol-Version"] = self.version
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        return headers | self._extra

    def _check_session(self, response: HttpStream) -> None:
        if response.status == HTTPStatus.NOT_FOUND and self._session_id is not None:
            self.is_known = False
            raise SessionExpired

    async def _read_stream(self, response: HttpStream, read_event: ReadEvent[Answer]) -> Answer:
        position = StreamPosition()
        answer = await _follow(response, read_event, position)
        for _ in range(MAX_RESUMES):
            if answer is not None or position.last_id is None or self.era is Era.MODERN:
                break
            await asyncio.sleep(position.wait)
            async with self._resume(position) as resumed:
                answer = await _follow(resumed, read_event, position)
        if answer is None and response.status >= HTTPStatus.BAD_REQUEST:
            raise NotUnderstood(f"HTTP {response.status} without a JSON-RPC message", status=response.status)
        if answer is None:
            raise ServerGone
        return answer

    @contextlib.asynccontextmanager
    async def _resume(self, position: StreamPosition) -> AsyncIterator[HttpStream]:
        """A GET stream, from a position if there is one. Raises NotUnderstood: the server does not know the position."""
        headers = self._headers({}) | ({"Last-Event-ID": position.last_id} if position.last_id is not None else {})
        headers |= {"Accept": "text/event-stream"}
        headers.pop("Content-Type")
        async with self._pools.reused.stream("GET", self._url, headers=headers) as response:
            if response.status != HTTPStatus.OK or not response.is_event_stream:
                raise NotUnderstood(f"HTTP {response.status} for an event stream", status=response.status)
            yield response


async def _follow(response: HttpStream, read_event: ReadEvent[Answer], position: StreamPosition) -> Answer | None:
    """Read events until the response; None if the stream ends or breaks off before it."""
    with contextlib.suppress(ServerGone):
        async for event in response.events():
            position.note(event)
            answer = read_event(event.data)
            if answer is not None:
                return answer
    return None


def _session_id(response: HttpStream) -> str | None:
    """The session id that the server sets. Raises NotUnderstood: it cannot be repeated in a header."""
    session_id = response.headers.get("mcp-session-id")
    if session_id is not None and (len(session_id) > MAX_SESSION_ID or not session_id.isascii()):
        raise NotUnderstood("the session id is too long or not ASCII", status=response.status)
    return session_id
