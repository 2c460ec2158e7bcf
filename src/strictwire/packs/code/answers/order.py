"""The order of lists and the removal of duplicates (A.3).

Texts compare by UTF-16 code units, as the reference does. Canonical URIs are ASCII, so their plain order is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject

Key: TypeAlias = tuple[Any, ...]

_LAST: Final = (1, b"")
"""Sorts after every text that is present."""


def utf16(text: str) -> bytes:
    """A key that orders texts by UTF-16 code units; Python's own order differs above U+FFFF."""
    return text.encode("utf-16-be", "surrogatepass")


def absent_last(text: str | None) -> tuple[int, bytes]:
    """A key for an optional text: absent sorts last."""
    return _LAST if text is None else (0, utf16(text))


def number_absent_last(number: int | None) -> tuple[int, int]:
    """A key for an optional number: absent sorts last."""
    return (1, 0) if number is None else (0, number)


def sort_unique(items: Iterable[JsonObject], key: Callable[[JsonObject], Key]) -> list[JsonObject]:
    """Return the items in order, without those that equal the item before.

    Items hold objects, texts and integers alone, so they are equal exactly if their canonical JSON is.
    """
    return sort_placed([(key(item), item) for item in items], key)


def sort_placed(placed: list[tuple[Key, JsonObject]], key: Callable[[JsonObject], Key]) -> list[JsonObject]:
    """The same, of items with a prefix of their key that is seldom equal. The whole key is made where it is."""
    placed.sort(key=itemgetter(0))
    kept: list[JsonObject] = []
    last: Key | None = None
    has_equal = False
    for place, item in placed:
        has_equal = has_equal or place == last
        last = place
        kept.append(item)
    if not has_equal:
        return kept
    kept.sort(key=key)
    return [item for item, before in zip(kept, [None, *kept], strict=False) if item != before]


def range_key(value: JsonObject) -> Key:
    """The order of the member `range` of an answer."""
    start, end = value["start"], value["end"]
    return (start["line"], start["character"], end["line"], end["character"])


def location_key(item: JsonObject) -> Key:
    """Locations: uri, then range."""
    return (item["uri"], *range_key(item["range"]))


def workspace_symbol_key(item: JsonObject) -> Key:
    """Workspace symbols: location, name, kind, container."""
    return (*location_key(item["location"]), utf16(item["name"]), item["kind"], absent_last(item.get("containerName")))


def document_symbol_key(item: JsonObject) -> Key:
    """Document symbols: range, name, kind, container."""
    return (*range_key(item["range"]), utf16(item["name"]), item["kind"], absent_last(item.get("containerName")))


def diagnostic_key(item: JsonObject) -> Key:
    """Diagnostics of one file: range, severity, code, source, message."""
    return (
        *range_key(item["range"]),
        number_absent_last(item.get("severity")),
        absent_last(item.get("code")),
        absent_last(item.get("source")),
        utf16(item["message"]),
    )


def hover_key(item: JsonObject) -> Key:
    """Hover contents: kind, then value."""
    return (item["kind"], utf16(item["value"]))
