"""Locations in an engine's answer: `Location`, `LocationLink`, one of them or a list (A.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.answers.order import location_key, sort_unique
from strictwire.packs.code.answers.ranges import Range, maybe_range

Inside: TypeAlias = Callable[[str], str | None]
"""The canonical form of a URI that lands in a root; None for one outside, or that is no URI."""


class Located(NamedTuple):
    """What is left of an engine's locations."""

    items: list[JsonObject]
    outside: int
    """Valid locations that were dropped because they land outside the roots."""


def read_locations(value: JsonValue, inside: Inside) -> Located:
    """The locations inside the roots, in order and once each. What is no location is dropped."""
    kept: list[JsonObject] = []
    outside = 0
    for uri, place in _each(value):
        canonical = inside(uri)
        if canonical is None:
            outside += 1
        else:
            kept.append({"uri": canonical, "range": place.as_json()})
    return Located(sort_unique(kept, location_key), outside)


def maybe_location(value: JsonValue) -> tuple[str, Range] | None:
    """One `Location` or `LocationLink`. A link gives its selection if that is valid, else its whole target."""
    if not isinstance(value, dict):
        return None
    if "targetUri" in value:
        uri = value["targetUri"]
        place = maybe_range(value.get("targetSelectionRange")) or maybe_range(value.get("targetRange"))
    else:
        uri, place = value.get("uri"), maybe_range(value.get("range"))
    return (uri, place) if isinstance(uri, str) and place is not None else None


def _each(value: JsonValue) -> Iterator[tuple[str, Range]]:
    for entry in value if isinstance(value, list) else [value]:
        found = maybe_location(entry)
        if found is not None:
            yield found
