"""Times as text: ISO 8601 in UTC with seconds, and nothing else. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_FORM: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def render_moment(seconds: float) -> str:
    """Seconds since 1970 as text; parts of a second are dropped."""
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}"


def maybe_moment(text: str) -> float | None:
    """Seconds since 1970; None if the text is not a time in this form."""
    if not _FORM.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
