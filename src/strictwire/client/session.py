"""A typed session with another server, in the modern or the legacy era.

`open_stdio` and `open_http` negotiate the era and return a `Session`. Responses keep their raw bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import Callbacks, Channel
from strictwire.client.errors import CannotReach, NotUnderstood
from strictwire.client.message import (
    Era,
    Identity,
    RemoteError,
    Reply,
    Result,
    modern_params,
    notification,
    read_reply,
    request,
)
from strictwire.client.negotiation import Negotiated, negotiate_stdio

MAX_PAGES: Final = 1000
"""Pages of one list. A server that returns a cursor forever must not block the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Options of a session."""

    identity: Identity = field(default_factory=Identity)
    callbacks: Callbacks = field(default_factory=Callbacks)
    seconds: float = 30.0
    """Timeout of one request."""
    detect_seconds: float = 10.0
    """Timeout of the negotiation. It includes the start of the server process."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every HTTP request, such as Authorization."""
    env: Mapping[str, str] | None = None
    """Environment of the server process; None passes on our own."""
    cwd: str | None = None
    """Working directory of the server process."""


class Session:
    """An open session. Close it, or use `async with`."""

    def __init__(self, channel: Channel, negotiated: Negotiated, options: SessionOptions) -> None:
        self._channel = channel
        self._options = options
        self._ids = itertools.count(1)
        self.era: Final = negotiated.era
        self.version: Final = negotiated.version
        self.opening: Final = negotiated.opening
        """The result of `server/discover` or `initialize`, with its raw bytes."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    @property
    def capabilities(self) -> JsonObject:
        """The capabilities that the server declares."""
        capabilities = self.opening.value.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    async def request(
        self, method: str, params: Mapping[str, JsonValue] | None = None, *, seconds: float | None = None
    ) -> Reply:
        """Send a request and return the result or the error response. Raises ClientError: the connection failed."""
        given = params or {}
        full = modern_params(given, self._options.identity) if self.era is Era.MODERN else given
        limit = self._options.seconds if seconds is None else seconds
        message, raw = await self._channel.request(request(next(self._ids), method, full), seconds=limit)
        return read_reply(message, raw)

    async def notify(self, method: str, params: Mapping[str, JsonValue] | None = None) -> None:
        """Send a notification. Raises ClientError."""
        await self._channel.notify(notification(method, params or {}))

    async def list_tools(self) -> list[JsonObject] | RemoteError:
        """List all tools, over all pages."""
        return await self.list_all("tools/list", "tools")

    async def list_all(self, method: str, member: str) -> list[JsonObject] | RemoteError:
        """List all entries of a paged method. Raises NotUnderstood: a page is malformed, or there are too many pages."""
        entries: list[JsonObject] = []
        cursor: JsonValue = None
        for _ in range(MAX_PAGES):
            # Only a missing cursor ends the list: an empty string is a valid cursor.
            reply = await self.request(method, {} if cursor is None else {"cursor": cursor})
            if isinstance(reply, RemoteError):
                return reply
            entries += _page(reply, member)
            cursor = reply.value.get("nextCursor")
            if cursor is None:
                return entries
        raise NotUnderstood(f"{method} returns more than {MAX_PAGES} pages")

    async def close(self) -> None:
        """End the session and close the connection."""
        await self._channel.close()


async def open_stdio(command: Sequence[str], options: SessionOptions | None = None) -> Session:
    """Start a server process and open a session with it. Raises ClientError; the process is stopped then."""
    chosen = options or SessionOptions()
    channel, negotiated = await negotiate_stdio(
        command,
        identity=chosen.identity,
        callbacks=chosen.callbacks,
        seconds=chosen.detect_seconds,
        env=chosen.env,
        cwd=chosen.cwd,
    )
    return Session(channel, negotiated, chosen)


async def open_http(url: str, options: SessionOptions | None = None) -> Session:
    """Open a session with the server at a URL. Raises ClientError, also if the extra `client` is not installed."""
    try:
        # Imported here because it needs aiohttp, which is optional: stdio sessions and the probe work without it.
        from strictwire.client.negotiation_http import negotiate_http
    except ModuleNotFoundError as exc:
        raise CannotReach(url, "HTTP sessions need aiohttp; run: pip install 'strictwire[client]'") from exc
    chosen = options or SessionOptions()
    channel, negotiated = await negotiate_http(
        url,
        identity=chosen.identity,
        callbacks=chosen.callbacks,
        seconds=chosen.detect_seconds,
        headers=chosen.headers,
    )
    return Session(channel, negotiated, chosen)


def _page(reply: Result, member: str) -> list[JsonObject]:
    page = reply.value.get(member)
    if not isinstance(page, list) or not all(isinstance(entry, dict) for entry in page):
        raise NotUnderstood(f"{member!r} is not a list of objects", reply.raw)
    return page
