"""The seam between a session and what carries it: ask one request, tell one notification, close.

Two carriers exist, `stdio_channel` and `http_channel`. What a server says on its own goes to an `Inbound`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from strictwire.canon.json import JsonObject

Notified: TypeAlias = Callable[[JsonObject, bytes], None]
"""Takes a notification of the server and its raw bytes."""

Asked: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""Takes a request of a legacy server and gives the whole response message."""


def ignore(_message: JsonObject, _raw: bytes) -> None:
    """Drop a notification."""


async def refuse(message: JsonObject) -> JsonObject:
    """Answer ping, refuse everything else: we declared no capability that a server could use."""
    if message.get("method") == "ping":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    error = {"code": -32601, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """What to do with messages that the server starts."""

    on_notification: Notified = ignore
    on_request: Asked = refuse


class Channel(Protocol):
    """A way to a server that has been opened."""

    async def ask(self, message: JsonObject, *, seconds: float) -> tuple[JsonObject, bytes]:
        """Send a request; give the response with its raw bytes. Raises ClientError."""
        ...

    async def tell(self, message: JsonObject) -> None:
        """Send a notification. Raises ClientError."""
        ...

    async def close(self) -> None:
        """Let go of everything. Never raises."""
        ...
