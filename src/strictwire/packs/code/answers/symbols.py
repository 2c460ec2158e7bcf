"""Symbols of a document (A.3).

Kinds are LSP's numbers: 5 class, 6 method, 12 function.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers.ids import document_symbol_id
from strictwire.packs.code.answers.locations import maybe_location
from strictwire.packs.code.answers.order import (
    document_symbol_key,
    range_key,
    sort_unique,
    utf16,
)
from strictwire.packs.code.answers.ranges import Range, maybe_range, repaired_range
from strictwire.packs.code.answers.texts import maybe_text

MAX_NODES: Final = 20_000
"""Nodes of a document's symbols that are visited, nameless ones included (A.2)."""


class _Node(NamedTuple):
    """One symbol before it is named and placed."""

    name: str | None
    kind: int
    place: Range
    selection: Range
    container: str | None
    """What a flat `SymbolInformation` says itself; a nested symbol takes its parent's name."""
    children: list[Any]


def read_document_symbols(value: JsonValue, uri: str) -> list[JsonObject]:
    """Every named symbol of a document, flattened, in order. Raises Refused: CAP_EXCEEDED, too many nodes."""
    found: list[JsonObject] = []
    visited = 0
    waiting: list[tuple[_Node, str | None]] = [(node, node.container) for node in reversed(_read_nodes(value))]
    while waiting:
        node, container = waiting.pop()
        visited += 1
        if visited > MAX_NODES:
            raise Refused(fail("CAP_EXCEEDED", text="Document symbols exceeded max total."))
        if node.name is not None:
            found.append(_document_symbol(uri, node, container))
        waiting.extend((child, node.name) for child in reversed(_read_nodes(node.children)))
    return sort_unique(found, document_symbol_key)


def _read_nodes(value: JsonValue) -> list[_Node]:
    """The nodes of one level, sorted by range, name and kind."""
    nodes = [_node(each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return sorted(nodes, key=lambda node: (node.place, utf16(node.name or ""), node.kind))


def _node(value: JsonObject) -> _Node:
    """A `DocumentSymbol`, or a `SymbolInformation`, which has a location and no children."""
    located = maybe_location(value.get("location"))
    place = located[1] if located is not None else repaired_range(value.get("range"))
    children = value.get("children")
    return _Node(
        name=_maybe_name(value.get("name")),
        kind=_kind(value.get("kind")),
        place=place,
        selection=maybe_range(value.get("selectionRange")) or place,
        container=_maybe_name(value.get("containerName")),
        children=children if isinstance(children, list) else [],
    )


def _maybe_name(value: JsonValue) -> str | None:
    """A name; white space alone is none."""
    text = maybe_text(value)
    return text if text is not None and text.strip() else None


def _kind(value: JsonValue) -> int:
    return value if type(value) is int and value >= 0 else 0


def _document_symbol(uri: str, node: _Node, container: str | None) -> JsonObject:
    name = node.name or ""
    shown: JsonObject = {
        "id": document_symbol_id(uri, name, node.kind, node.place, node.selection, container),
        "name": name,
        "kind": node.kind,
        "range": node.place.as_json(),
        "selectionRange": node.selection.as_json(),
    }
    return shown | ({"containerName": container} if container else {})


def enclosing_symbol(symbols: list[JsonObject], line: int, character: int) -> JsonObject | None:
    """The innermost of a document's symbols that holds a position."""
    holding = [each for each in symbols if Range(*range_key(each["range"])).contains(line, character)]
    # The innermost range starts last; of those that start together it ends first.
    return max(holding, key=lambda each: _innermost(range_key(each["range"])), default=None)


def _innermost(place: tuple[Any, ...]) -> tuple[int, int, int, int]:
    return (place[0], place[1], -place[2], -place[3])
