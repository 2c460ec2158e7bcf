"""Reads `NAME=JSON`, the way a user says how a tool may be called. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from strictwire.canon import json
from strictwire.canon.json import JsonObject


def parse_hints(texts: Iterable[str]) -> dict[str, JsonObject]:
    """Tools and their arguments. Raises ValueError with a sentence for the user."""
    return dict(_parse(text) for text in texts)


def _parse(text: str) -> tuple[str, JsonObject]:
    name, equals, arguments = text.partition("=")
    if not name or not equals:
        raise ValueError(f"expected NAME=JSON, got {text!r}")
    try:
        return name, json.parse_object(arguments.encode())
    except (json.NotStrict, UnicodeEncodeError) as exc:
        raise ValueError(f"the arguments of {name!r} are no JSON object: {exc}") from exc
