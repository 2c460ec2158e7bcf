"""Limits of an HTTP listener: connections, bytes and seconds. The size of a body is a setting (`Site.max_body`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """The limits of one listener. An ASGI server has its own for connections and heads; the rest apply there too."""

    max_connections: int = 2000
    """Connections of clients that have sent an authorised request. When all are busy, further clients get 503 with
    Retry-After, unless their principal has fewer than half of them."""
    max_unproven: int = 200
    """Further places for clients that have just connected. When all places are taken, the oldest of these connections makes
    room for the newest, so a client has the time to send its head in which this many others connect."""
    max_held: int = 48 * 1024 * 1024
    """Bytes of large requests that are read or answered, and of responses that are not yet sent, of all connections
    together. Decoded, they take about twice that. The principal that holds most pays: with 503, or its connection."""
    large_body: int = 16 * 1024
    """Bytes of a body that counts towards that. Smaller ones of 2,000 connections take 32 MB."""
    max_head: int = 64 * 1024
    """Bytes of request line and header fields, and of trailers; nginx takes 32 KB, Node 16 KB."""
    max_fields: int = 128
    """Header fields. Each costs far more memory than its bytes; Apache takes 100."""
    max_unsent: int = 8 * 1024 * 1024
    """Bytes of an event stream that may wait for a client that does not read. At the next event it is disconnected."""

    read_seconds: float = 15.0
    """From the first byte of a request to the end of its body, also for a request that is pipelined behind another."""
    idle_seconds: float = 75.0
    """A connection between two requests is kept this long, as nginx does."""
    write_seconds: float = 30.0
    min_sent: int = 256 * 1024
    """A client that is behind has to read so many bytes within `write_seconds`, about 70 kbit/s, or it is disconnected."""
    linger_seconds: float = 2.0
    """Time to read a refusal while still sending. Closing at once would reset the connection and destroy the response."""
    keep_alive_seconds: float = 15.0
    """A quiet event stream gets a comment this often; proxies close silent connections after 30 to 60 s."""
    stop_seconds: float = 5.0
    """Running calls have this long to finish when the server stops."""
    sweep_seconds: float = 0.5
    """How often the deadlines of all connections are looked at, so also how late one may be noticed."""


DEFAULT_LIMITS: Final = HttpLimits()
