"""Client connections to other MCP servers: raw bytes over stdio and HTTP, and a typed session for both eras.

Used by the public `Client` (`server/client`), by `sources` (contracts of running servers), `gateway` (upstreams) and `probe`
(only the raw layers). Responses keep their raw bytes. A failure of the connection is a `ClientError`; an error response of
the server is a `RemoteError` value, which the public client raises as `RequestFailed`.
"""

from __future__ import annotations

from strictwire.client.errors import (
    CannotReach,
    ClientError,
    NotUnderstood,
    OutputInvalid,
    RequestFailed,
    ServerGone,
    SessionExpired,
    TimedOut,
    TooLarge,
    ToolFailed,
)
from strictwire.client.message import LEGACY_VERSION, MODERN_VERSION, Era, RemoteError, Reply, Result
from strictwire.client.session import Session, SessionOptions, open_http, open_stdio

__all__ = [
    "LEGACY_VERSION",
    "MODERN_VERSION",
    "CannotReach",
    "ClientError",
    "Era",
    "NotUnderstood",
    "OutputInvalid",
    "RemoteError",
    "Reply",
    "RequestFailed",
    "Result",
    "ServerGone",
    "Session",
    "SessionExpired",
    "SessionOptions",
    "TimedOut",
    "TooLarge",
    "ToolFailed",
    "open_http",
    "open_stdio",
]
