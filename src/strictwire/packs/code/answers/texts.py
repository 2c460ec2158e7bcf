"""Texts in an engine's JSON. A lone surrogate cannot be sent as JSON, so a text that holds one is no text."""

from __future__ import annotations

from strictwire.canon.json import JsonValue


def maybe_text(value: JsonValue) -> str | None:
    """A text that is not empty, or None."""
    if not isinstance(value, str) or not value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
