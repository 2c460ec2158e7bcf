"""A typed session with another server, in whichever era it speaks: modern first, the legacy handshake otherwise.

`open_stdio` and `open_http` find out the era and give a `Session`. Answers keep their raw bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import Channel, Inbound
from strictwire.client.era import Spoken, find_era_stdio
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

MAX_PAGES: Final = 1000
"""Pages of one list: a server that never stops paging must not hold us forever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How to open a session."""

    identity: Identity = field(default_factory=Identity)
    inbound: Inbound = field(default_factory=Inbound)
    seconds: float = 30.0
    """For one request."""
    detect_seconds: float = 10.0
    """For the first answer: the start of an interpreter is part of it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every HTTP request, such as Authorization."""
    env: Mapping[str, str] | None = None
    cwd: str | None = None


class Session:
    """An open session. Close it, or use it with `async with`."""

    def __init__(self, channel: Channel, spoken: Spoken, options: SessionOptions) -> None:
        self._channel = channel
        self._options = options
        self._ids = itertools.count(1)
        self.era: Final = spoken.era
        self.version: Final = spoken.version
        self.opening: Final = spoken.opening
        """The result of `server/discover` or `initialize`, with its raw bytes."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    @property
    def capabilities(self) -> JsonObject:
        """What the server says it offers."""
        capabilities = self.opening.value.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    async def request(
        self, method: str, params: Mapping[str, JsonValue] | None = None, *, seconds: float | None = None
    ) -> Reply:
        """Ask, and give the result or the server's error as a value. Raises ClientError for the connection."""
        given = params or {}
        full = modern_params(given, self._options.identity) if self.era is Era.MODERN else given
        limit = self._options.seconds if seconds is None else seconds
        message, raw = await self._channel.ask(request(next(self._ids), method, full), seconds=limit)
        return read_reply(message, raw)

    async def notify(self, method: str, params: Mapping[str, JsonValue] | None = None) -> None:
        """Tell, without an answer. Raises ClientError."""
        await self._channel.tell(notification(method, params or {}))

    async def list_tools(self) -> list[JsonObject] | RemoteError:
        """Every tool, over all pages."""
        return await self.list_all("tools/list", "tools")

    async def list_all(self, method: str, member: str) -> list[JsonObject] | RemoteError:
        """Every entry of a paged list. Raises NotUnderstood when a page has no such member or paging does not end."""
        entries: list[JsonObject] = []
        cursor: JsonValue = None
        for _ in range(MAX_PAGES):
            # An empty string is a cursor like any other.
            reply = await self.request(method, {} if cursor is None else {"cursor": cursor})
            if isinstance(reply, RemoteError):
                return reply
            entries += _page(reply, member)
            cursor = reply.value.get("nextCursor")
            if cursor is None:
                return entries
        raise NotUnderstood(f"{method} gives more than {MAX_PAGES} pages")

    async def close(self) -> None:
        """End the session and what carries it."""
        await self._channel.close()


async def open_stdio(command: Sequence[str], options: SessionOptions | None = None) -> Session:
    """Start a server and open a session with it. Raises ClientError; nothing is left running then."""
    chosen = options or SessionOptions()
    channel, spoken = await find_era_stdio(
        command,
        identity=chosen.identity,
        inbound=chosen.inbound,
        seconds=chosen.detect_seconds,
        env=chosen.env,
        cwd=chosen.cwd,
    )
    return Session(channel, spoken, chosen)


async def open_http(url: str, options: SessionOptions | None = None) -> Session:
    """Open a session with a server at a URL. Raises ClientError, also when the extra `client` is not installed."""
    try:
        # Here and not above: aiohttp is an extra, and stdio and the probe do without it.
        from strictwire.client.era_http import find_era_http
    except ModuleNotFoundError as exc:
        raise CannotReach(url, "HTTP sessions need the extra: pip install 'strictwire[client]'") from exc
    chosen = options or SessionOptions()
    channel, spoken = await find_era_http(
        url,
        identity=chosen.identity,
        inbound=chosen.inbound,
        seconds=chosen.detect_seconds,
        headers=chosen.headers,
    )
    return Session(channel, spoken, chosen)


def _page(reply: Result, member: str) -> list[JsonObject]:
    page = reply.value.get(member)
    if not isinstance(page, list) or not all(isinstance(entry, dict) for entry in page):
        raise NotUnderstood(f"a page without a list of objects in {member!r}", reply.raw)
    return page
