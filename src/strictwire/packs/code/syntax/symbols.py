"""The symbols of one file, from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from strictwire.canon.json import JsonObject
from strictwire.packs.code.lines import utf16_length
from strictwire.packs.code.syntax.definitions import DEFINITIONS, FUNCTION, METHOD, OWNERS
from strictwire.packs.kit.grammars import find_matches, parse


@dataclass(slots=True)
class _Symbol:
    name: str
    kind: int
    node: Any
    name_node: Any
    children: list[_Symbol] = field(default_factory=list)


def document_symbols(grammar: str, raw: bytes) -> list[JsonObject]:
    """The symbols of a file as LSP's DocumentSymbol, nested, in the order of the text. `raw` is normalised."""
    lines = raw.split(b"\n")
    return [_as_json(symbol, lines) for symbol in _nest(_symbols(grammar, parse(grammar, raw)))]


def _symbols(grammar: str, root: Any) -> Iterable[_Symbol]:
    """Of two patterns that find the same name the first one in the table counts."""
    kinds, query = _query(grammar)
    found: dict[int, _Symbol] = {}
    for number, match in sorted(find_matches(grammar, root, query), key=lambda each: each[0]):
        node, name = match["all"][0], match["name"][0]
        symbol = _Symbol(name.text.decode("utf-8", "replace"), kinds[number], node, name)
        found.setdefault(name.start_byte, symbol)
    return found.values()


@cache
def _query(grammar: str) -> tuple[tuple[int, ...], str]:
    """The kind of each pattern, and all patterns in one query: a tree is walked once."""
    return tuple(kind for kind, _ in DEFINITIONS[grammar]), "\n".join(pattern for _, pattern in DEFINITIONS[grammar])


def _nest(symbols: Iterable[_Symbol]) -> list[_Symbol]:
    top: list[_Symbol] = []
    around: list[_Symbol] = []
    for symbol in sorted(symbols, key=lambda each: (each.node.start_byte, -each.node.end_byte)):
        while around and around[-1].node.end_byte < symbol.node.end_byte:
            around.pop()
        if around and symbol.kind == FUNCTION and around[-1].kind in OWNERS:
            symbol.kind = METHOD
        (around[-1].children if around else top).append(symbol)
        around.append(symbol)
    return top


def _as_json(symbol: _Symbol, lines: list[bytes]) -> JsonObject:
    return {
        "name": symbol.name,
        "kind": symbol.kind,
        "range": _range(symbol.node, lines),
        "selectionRange": _range(symbol.name_node, lines),
        "children": [_as_json(child, lines) for child in symbol.children],
    }


def _range(node: Any, lines: list[bytes]) -> JsonObject:
    return {"start": _position(node.start_point, lines), "end": _position(node.end_point, lines)}


def _position(point: tuple[int, int], lines: list[bytes]) -> JsonObject:
    row, column = point
    return {"line": row, "character": utf16_length(lines[row][:column].decode("utf-8", "replace"))}
