"""The interface between a session and its transport. `stdio_channel` and `http_channel` implement it.

Messages that the server sends on its own initiative go to `Callbacks`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from strictwire.canon.json import JsonObject

OnNotification: TypeAlias = Callable[[JsonObject, bytes], None]
"""Takes a notification from the server and its raw bytes."""

OnRequest: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""Takes a request from a legacy server and returns the complete response message."""


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

    async def request(self, message: JsonObject, *, seconds: float) -> tuple[JsonObject, bytes]:
        """Send a request and wait for the response. Returns it with its raw bytes. Raises ClientError."""
        ...

    async def notify(self, message: JsonObject) -> None:
        """Send a notification. Raises ClientError."""
        ...

    async def close(self) -> None:
        """Close the connection and release its resources. Never raises."""
        ...
