"""Symbols of the workspace (A.3). Kinds are LSP's numbers: 5 class, 6 method, 12 function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct, ValidationError, convert

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.answers.ids import workspace_symbol_id
from strictwire.packs.code.answers.locations import Inside, maybe_location
from strictwire.packs.code.answers.order import Key, range_key, sort_placed, workspace_symbol_key
from strictwire.packs.code.answers.ranges import MAX_NUMBER, Range
from strictwire.packs.code.answers.texts import maybe_text

NO_ID: Final = "sha256:" + 64 * "0"
"""In the place of an id that is not made yet, and as long: a page is cut by the bytes of its items."""


class _Position(Struct, forbid_unknown_fields=True, order=True, gc=False):
    line: Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
    character: Annotated[int, Meta(ge=0, le=MAX_NUMBER)]


class _Range(Struct, forbid_unknown_fields=True, gc=False):
    start: _Position
    end: _Position

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError("reversed")


class _Location(Struct, gc=False):
    uri: str
    range: _Range


class _Symbol(Struct, gc=False):
    """A `SymbolInformation` or `WorkspaceSymbol` in which nothing has to be repaired."""

    name: Annotated[str, Meta(min_length=1)]
    kind: Annotated[int, Meta(ge=0)]
    location: _Location
    containerName: str | None = None  # noqa: N815 - LSP's name


def read_workspace_symbols(values: Iterable[JsonValue], inside: Inside) -> list[JsonObject]:
    """Every valid symbol inside the roots, in order and once each, with NO_ID; `with_id` completes those that are shown.

    Engines answer with thousands of symbols, and nearly always with valid ones: a list is checked as a whole first, and
    symbol by symbol, which takes three times as long, only if something in it is wrong.
    """
    return sort_placed([placed for value in values for placed in _read_symbols(value, inside)], workspace_symbol_key)


def _read_symbols(value: JsonValue, inside: Inside) -> Iterator[tuple[Key, JsonObject]]:
    """Yield each symbol inside the roots with its place. Members are read from structs, which is faster than from dicts."""
    entries = value if isinstance(value, list) else []
    try:
        symbols = convert(entries, list[_Symbol])
    except ValidationError:
        found = (_maybe_symbol(each) for each in entries if isinstance(each, dict))
        entries = [each for each in found if each is not None]
        symbols = convert(entries, list[_Symbol])
    for entry, symbol in zip(entries, symbols, strict=True):
        canonical = inside(symbol.location.uri)
        if canonical is not None:
            place = {"uri": canonical, "range": entry["location"]["range"]}
            shown: JsonObject = {"id": NO_ID, "name": symbol.name, "kind": symbol.kind, "location": place}
            if symbol.containerName:
                shown["containerName"] = symbol.containerName
            start, end = symbol.location.range.start, symbol.location.range.end
            yield (canonical, start.line, start.character, end.line, end.character), shown


def _maybe_symbol(value: JsonObject) -> JsonObject | None:
    """A symbol whose name, kind and place can be used, repaired."""
    name, kind, located = maybe_text(value.get("name")), value.get("kind"), maybe_location(value.get("location"))
    if name is None or type(kind) is not int or kind < 0 or located is None:
        return None
    location = {"uri": located[0], "range": located[1].as_json()}
    return {"name": name, "kind": kind, "location": location, "containerName": maybe_text(value.get("containerName"))}


def with_id(symbol: JsonObject) -> JsonObject:
    """A workspace symbol with its stable id."""
    uri, place = symbol["location"]["uri"], Range(*range_key(symbol["location"]["range"]))
    found = workspace_symbol_id(uri, symbol["name"], symbol["kind"], place, symbol.get("containerName"))
    return {**symbol, "id": found}
