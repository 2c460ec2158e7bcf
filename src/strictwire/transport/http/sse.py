"""Event streams as bytes: one JSON-RPC message an event (text/event-stream)."""

from __future__ import annotations

from typing import Final

from strictwire.transport.http.cors import HeaderFields

KEEP_ALIVE: Final = b": \n\n"
"""A comment, which clients ignore. It keeps proxies from closing a quiet stream."""

HEADERS: Final[HeaderFields] = (
    ("Content-Type", "text/event-stream"),
    ("Cache-Control", "no-cache, no-transform"),
    ("X-Accel-Buffering", "no"),  # nginx would otherwise collect events until its buffer is full
)
"""Of every response that is an event stream."""


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
