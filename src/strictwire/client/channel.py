"""The interface between a session and its transport. Implemented by `stdio_channel`, `http_channel` and `transport.memory`.

Messages that the server sends on its own initiative go to `Callbacks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.errors import TimedOut
from strictwire.client.message import Era, notification

OnNotification: TypeAlias = Callable[[JsonObject, bytes], None]
"""Takes a notification from the server and its raw bytes."""

OnRequest: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""Takes a request from a legacy server and returns the complete response message."""

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})

_NOT_CANCELLED: Final = frozenset({"initialize"})
"""Requests that the specification does not allow a client to cancel."""


def ignore(_message: JsonObject, _raw: bytes) -> None:
    """Ignore a notification."""


async def refuse(message: JsonObject) -> JsonObject:
    """Answer `ping` and refuse every other request: the client declares no capabilities that a server could use."""
    if message.get("method") == "ping":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    error = {"code": -32601, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Functions for the messages that the server sends on its own initiative."""

    on_notification: OnNotification = ignore
    on_request: OnRequest = refuse
    on_stderr: Callable[[bytes], None] | None = None
    """Takes what a server process writes to stderr."""


class Channel(Protocol):
    """An open connection to a server."""

    @property
    def alive(self) -> bool:
        """Whether the connection, or the session at the server, can still be used."""
        ...

    def use_era(self, era: Era, version: str | None) -> None:
        """Speak an era from now on. `version` is the negotiated legacy version, None before `initialize`."""
        ...

    async def listen(self) -> None:
        """Receive messages that belong to no request, where they need a connection of their own (legacy HTTP)."""
        ...

    async def request(self, message: JsonObject, headers: Mapping[str, str] = NO_HEADERS) -> tuple[JsonObject, bytes]:
        """Send a request and wait for the response. Returns it with its raw bytes.

        `headers` repeat arguments, over HTTP. A request whose task is cancelled is cancelled at the server, too. Raises
        ClientError.
        """
        ...

    async def notify(self, message: JsonObject) -> None:
        """Send a notification. Raises ClientError."""
        ...

    async def close(self) -> None:
        """Close the connection and release its resources. Never raises."""
        ...


async def request_within(channel: Channel, message: JsonObject, seconds: float) -> tuple[JsonObject, bytes]:
    """Send a request and wait for the response for a limited time. Raises ClientError."""
    try:
        async with asyncio.timeout(seconds):
            return await channel.request(message)
    except TimeoutError as exc:
        raise TimedOut(str(message["method"]), seconds) from exc


def cancellation(message: JsonObject) -> JsonObject | None:
    """The notification that cancels a request; None if it must not be cancelled."""
    if message["method"] in _NOT_CANCELLED:
        return None
    return notification("notifications/cancelled", {"requestId": message["id"]})
