"""Where a definition leads, read from an engine's reply as leniently as LSP allows. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strictwire.canon.json import JsonValue
from strictwire.packs.code.engine import Span
from strictwire.packs.code.uri import UriRefused, parse_file_uri


def read_targets(value: JsonValue) -> list[Span]:
    """The places in a reply: Location, LocationLink, a list of either, or null. What is neither is left out."""
    items = value if isinstance(value, list) else [value]
    return [span for item in items for span in _spans(item)]


def _spans(item: JsonValue) -> Iterator[Span]:
    if not isinstance(item, dict):
        return
    uri: Any = item.get("uri", item.get("targetUri"))
    place: Any = item.get("range", item.get("targetSelectionRange", item.get("targetRange")))
    try:
        start, end = place["start"], place["end"]
        path = Path(parse_file_uri(uri))
        last = end["character"] if end["line"] == start["line"] else start["character"]
        yield Span(path=path, line=int(start["line"]), character=int(start["character"]), end=int(last))
    except (KeyError, TypeError, ValueError, UriRefused):
        return
