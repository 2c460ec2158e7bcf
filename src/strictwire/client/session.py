"""A session with another server, in the modern or the legacy era: JSON in, JSON out.

`open_stdio` and `open_http` negotiate the era and return a `Session`. Responses keep their raw bytes. The typed API above it
is `server.client.Client`.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import NO_HEADERS, Callbacks, Channel
from strictwire.client.errors import CannotReach, NotUnderstood, ServerGone, TimedOut
from strictwire.client.inbox import Inbox, OnParams, RequestTimeout
from strictwire.client.message import (
    MODERN_VERSION,
    Era,
    Identity,
    Negotiated,
    RemoteError,
    Reply,
    Result,
    modern_params,
    notification,
    read_reply,
    request,
)
from strictwire.client.negotiation import open_legacy, try_modern
from strictwire.client.stdio import StdioProcess
from strictwire.client.stdio_channel import StdioChannel
from strictwire.fault.escape import for_terminal

MAX_LIST_BYTES: Final = 32 * 1024 * 1024
"""Bytes of all pages of one list. The largest list of a public server has 0.3 MB."""

MAX_PAGES: Final = 1000
"""Pages of one list. A server that returns a cursor forever must not block the client."""

MAX_ENTRIES: Final = 100_000
"""Entries of one list: a bound for what is kept in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Options of a session."""

    identity: Identity = field(default_factory=Identity)
    callbacks: Callbacks = field(default_factory=Callbacks)
    seconds: float = 30.0
    """Timeout of one request. The time in which the client answers questions of the server does not count."""
    detect_seconds: float = 10.0
    """Timeout of the negotiation. It includes the start of the server process."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of every HTTP request, such as Authorization."""
    env: Mapping[str, str] | None = field(default=None, repr=False)
    """Environment of the server process; None passes on our own."""
    cwd: str | None = None
    """Working directory of the server process."""
    era: Era | None = None
    """The era that the session must have; None for what the server speaks, modern first."""
    listens: bool = False
    """Whether to receive messages that belong to no request also where they need a connection of their own (legacy HTTP)."""


class Session:
    """An open session. Close it, or use `async with`."""

    def __init__(self, channel: Channel, negotiated: Negotiated, options: SessionOptions, inbox: Inbox) -> None:
        self._channel = channel
        self._options = options
        self._ids = itertools.count(1)
        self.inbox: Final = inbox
        """What the server sends besides responses."""
        self.era: Final = negotiated.era
        self.version: Final = negotiated.version
        self.opening: Final = negotiated.opening
        """The result of `server/discover` or `initialize`, with its raw bytes."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    @property
    def alive(self) -> bool:
        """Whether the session can still be used."""
        return self._channel.alive

    @property
    def capabilities(self) -> JsonObject:
        """The capabilities that the server declares."""
        capabilities = self.opening.value.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    async def request(
        self,
        method: str,
        params: Mapping[str, JsonValue] | None = None,
        *,
        seconds: float | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
        on_progress: OnParams | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Reply:
        """Send a request and return the result or the error response. Raises ClientError: the connection failed.

        `headers` repeat arguments, over HTTP. `on_progress` takes the params of the progress notifications of this request.
        `on_sent` takes its id before it is sent. A request whose task is cancelled is cancelled at the server, too.
        """
        number = next(self._ids)
        if on_sent is not None:
            on_sent(number)
        message = request(number, method, self._params(params or {}, number if on_progress else None))
        limit = RequestTimeout(self._options.seconds if seconds is None else seconds)
        try:
            with self.inbox.progress(number, on_progress), self.inbox.limited(limit):
                async with limit.timeout:
                    response, raw = await self._channel.request(message, headers)
        except TimeoutError as exc:
            raise TimedOut(method, self._options.seconds if seconds is None else seconds) from exc
        return read_reply(response, raw)

    async def notify(self, method: str, params: Mapping[str, JsonValue] | None = None) -> None:
        """Send a notification. Raises ClientError."""
        await self._channel.notify(notification(method, params or {}))

    async def list_tools(self) -> list[JsonObject] | RemoteError:
        """List all tools, over all pages."""
        return await self.list_all("tools/list", "tools")

    async def list_all(self, method: str, member: str, *, seconds: float | None = None) -> list[JsonObject] | RemoteError:
        """List all entries of a paged method. Raises NotUnderstood: a page is malformed, or there are too many."""
        entries: list[JsonObject] = []
        size = 0
        cursor: JsonValue = None
        for _ in range(MAX_PAGES):
            # Only a missing cursor ends the list: an empty string is a valid cursor.
            reply = await self.request(method, {} if cursor is None else {"cursor": cursor}, seconds=seconds)
            if isinstance(reply, RemoteError):
                return reply
            entries += _page(reply, member)
            size += len(reply.raw)
            if size > MAX_LIST_BYTES:
                raise NotUnderstood(f"{method} returns more than {MAX_LIST_BYTES} bytes")
            if len(entries) > MAX_ENTRIES:
                raise NotUnderstood(f"{method} returns more than {MAX_ENTRIES} entries")
            cursor = reply.value.get("nextCursor")
            if cursor is None:
                return entries
            if not isinstance(cursor, str):
                raise NotUnderstood(f"{method} returns a cursor that is not a string", reply.raw)
        raise NotUnderstood(f"{method} returns more than {MAX_PAGES} pages")

    async def close(self) -> None:
        """End the session and close the connection. Never raises."""
        await self._channel.close()

    def _params(self, given: Mapping[str, JsonValue], token: int | None) -> JsonObject:
        full: JsonObject = modern_params(given, self._options.identity) if self.era is Era.MODERN else dict(given)
        if token is None:
            return full
        meta = full.get("_meta")
        return {**full, "_meta": {**(meta if isinstance(meta, dict) else {}), "progressToken": token}}


Connect: TypeAlias = Callable[[Callbacks], Awaitable[Channel]]
"""Opens a connection to the server. Raises ClientError."""


async def open_session(connect: Connect, options: SessionOptions) -> Session:
    """Connect and negotiate. Raises ClientError; the connection is closed then."""
    inbox = Inbox(options.callbacks)
    channel = await connect(inbox.callbacks)
    try:
        try:
            found = await _negotiate_modern(channel, options)
        except ServerGone:
            if options.era is not None:
                raise
            # Some legacy servers end when they receive an unknown method before `initialize`.
            found = None
            await channel.close()
            channel = await connect(inbox.callbacks)
        if found is None:
            found = await open_legacy(channel, options.identity, seconds=options.detect_seconds)
    except BaseException:
        await channel.close()
        raise
    if options.listens:
        await channel.listen()
    return Session(channel, found, options, inbox)


async def _negotiate_modern(channel: Channel, options: SessionOptions) -> Negotiated | None:
    """None: continue with `initialize`. Raises ClientError."""
    if options.era is Era.LEGACY:
        return None
    found = await try_modern(channel, options.identity, options.detect_seconds)
    if found is None and options.era is Era.MODERN:
        raise NotUnderstood(f"the server does not speak MCP {MODERN_VERSION}")
    return found


async def open_stdio(command: Sequence[str], options: SessionOptions | None = None) -> Session:
    """Start a server process and open a session with it. Raises ClientError; the process is stopped then."""
    chosen = options or SessionOptions()
    opened: list[StdioChannel] = []

    async def connect(callbacks: Callbacks) -> Channel:
        opened.append(StdioChannel(await StdioProcess.start(command, env=chosen.env, cwd=chosen.cwd), callbacks))
        return opened[-1]

    try:
        return await open_session(connect, chosen)
    except TimedOut as exc:
        unreadable = next(filter(None, (each.first_unreadable for each in opened)), b"")
        if not unreadable:
            raise
        shown = for_terminal(unreadable.decode("utf-8", "backslashreplace"))
        reason = f"its stdout is not MCP, which allows only messages there; it begins with: {shown}"
        raise NotUnderstood(reason, unreadable) from exc


async def open_http(url: str, options: SessionOptions | None = None) -> Session:
    """Open a session with the server at a URL. Raises ClientError, also if the extra `client` is not installed."""
    try:
        # Imported here because it needs aiohttp, which is optional: stdio sessions and the probe work without it.
        from strictwire.client.http import CONNECTIONS
        from strictwire.client.http_channel import HttpChannel
        from strictwire.client.streamable import ConnectionPools
    except ModuleNotFoundError as exc:
        raise CannotReach(url, "HTTP sessions need aiohttp; run: pip install 'strictwire[client]'") from exc
    chosen = options or SessionOptions()

    async def connect(callbacks: Callbacks) -> Channel:
        return HttpChannel(url, pools=ConnectionPools.open(CONNECTIONS), headers=chosen.headers, callbacks=callbacks)

    return await open_session(connect, chosen)


def _page(reply: Result, member: str) -> list[JsonObject]:
    page = reply.value.get(member)
    if not isinstance(page, list) or not all(isinstance(entry, dict) for entry in page):
        raise NotUnderstood(f"{member!r} is not a list of objects", reply.raw)
    return page
