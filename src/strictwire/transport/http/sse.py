"""How events are written on an HTTP stream, in chunks of HTTP/1.1."""

from __future__ import annotations

from typing import Final

KEEP_ALIVE: Final = b": \n\n"
"""A comment that clients pass over; it keeps proxies from closing a quiet stream."""

LAST_CHUNK: Final = b"0\r\n\r\n"


def event(message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bytes:
    """One event. JSON has no raw line breaks, so a message is one `data` line."""
    lines = []
    if event_id is not None:
        lines.append(b"id: %b\n" % event_id.encode())
    if retry_ms is not None:
        lines.append(b"retry: %d\n" % retry_ms)
    if message:
        lines.append(b"event: message\n")
    return b"%bdata: %b\n\n" % (b"".join(lines), message)


def chunk(body: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(body), body)
