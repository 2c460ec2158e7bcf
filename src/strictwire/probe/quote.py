"""Quotes bytes for a report: readable if they are text, bounded, and safe for a terminal. Pure."""

from __future__ import annotations

from typing import Final

SHOWN_BYTES: Final = 1_000
"""Bytes that are quoted: a whole request of ordinary size. `probe --only ID` with the same seed sends all of them again."""

SHOWN_ON_TERMINAL: Final = 240
"""Bytes that are quoted on a terminal: three lines."""


def quote_bytes(raw: bytes, limit: int = SHOWN_BYTES) -> str:
    """The bytes as ASCII, with escapes for all others; a long text keeps its beginning and says how long it is."""
    shown = raw[:limit].decode("ascii", "backslashreplace")
    text = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in shown)
    return text if len(raw) <= limit else f"{text}... ({len(raw):,} bytes)"
