"""Connections to other MCP servers: raw bytes over stdio and HTTP, and a small typed session over both eras.

Below: canon. Above: sources (live contracts), gateway (upstreams) and probe (which uses only the raw layers).
What a server answers is a value that keeps its raw bytes; what goes wrong with the connection is a `ClientError`.
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
