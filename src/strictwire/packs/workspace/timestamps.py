"""Timestamps as text: ISO 8601 in UTC with whole seconds, and no other form. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_FORMAT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def render_timestamp(seconds: float) -> str:
    """Format seconds since 1970. Fractions of a second are dropped."""
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}"


def maybe_timestamp(text: str) -> float | None:
    """Parse a timestamp to seconds since 1970. Returns None if it does not have this form."""
    if not _FORMAT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
