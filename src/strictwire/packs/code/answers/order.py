"""The order of lists and the removal of duplicates (A.3).

Texts compare by UTF-16 code units, as the reference does. Canonical URIs are ASCII, so their plain order is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
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


def sort_unique(
    items: Iterable[JsonObject], key: Callable[[JsonObject], Key], *, first: Callable[[JsonObject], Key] | None = None
) -> list[JsonObject]:
    """Return the items in order, without those that equal the item before.

    Items hold objects, texts and integers alone, so they are equal exactly if their canonical JSON is. `first` is a prefix
    of `key` that is cheaper to compute and seldom equal: the whole key is then made only for items whose prefixes are equal.
    """
    ordered = sorted(((first or key)(item), number, item) for number, item in enumerate(items))
    kept: list[JsonObject] = []
    for _, run in groupby(ordered, key=itemgetter(0)):
        same = [item for _, _, item in run]
        if len(same) > 1:
            same.sort(key=key)
            same = [item for item, before in zip(same, [None, *same], strict=False) if item != before]
        kept += same
    return kept


def range_key(value: JsonObject) -> Key:
    """The order of the member `range` of an answer."""
    start, end = value["start"], value["end"]
    return (start["line"], start["character"], end["line"], end["character"])


def location_key(item: JsonObject) -> Key:
    """Locations: uri, then range."""
    return (item["uri"], *range_key(item["range"]))


def symbol_place(item: JsonObject) -> Key:
    """The first part of `workspace_symbol_key`. Two symbols seldom have the same place."""
    return location_key(item["location"])


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
