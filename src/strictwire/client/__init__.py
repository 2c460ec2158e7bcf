"""Client connections to other MCP servers: raw bytes over stdio and HTTP, and a typed session for both eras.

Used by `sources` (contracts of running servers), `gateway` (upstreams) and `probe` (only the raw layers). Responses keep
their raw bytes. A failure of the connection is a `ClientError`; an error response of the server is a `RemoteError` value.
"""

from __future__ import annotations

from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.message import LEGACY_VERSION, MODERN_VERSION, Era, RemoteError, Reply, Result
from strictwire.client.session import Session, SessionOptions, open_http, open_stdio

__all__ = [
    "LEGACY_VERSION",
    "MODERN_VERSION",
    "CannotReach",
    "ClientError",
    "Era",
    "NotUnderstood",
    "RemoteError",
    "Reply",
    "Result",
    "ServerGone",
    "Session",
    "SessionOptions",
    "TimedOut",
    "TooLarge",
    "open_http",
    "open_stdio",
]
