"""Symbols: flattened, repaired, named by their container, bounded."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.fault.failure import Refused
from strictwire.packs.code.answers.ids import document_symbol_id
from strictwire.packs.code.answers.ranges import Range
from strictwire.packs.code.answers.symbols import (
    MAX_NODES,
    enclosing_symbol,
    read_document_symbols,
)

URI = "file:///w/a.py"


def node(name: Any, kind: int, *numbers: int, children: Any = (), **more: Any) -> dict[str, Any]:
    place = Range(*numbers).as_json()
    return {"name": name, "kind": kind, "range": place, "selectionRange": place, "children": list(children), **more}


def shown(name: str, kind: int, *numbers: int, container: str | None = None) -> dict[str, Any]:
    place = Range(*numbers)
    made = {
        "id": document_symbol_id(URI, name, kind, place, place, container),
        "name": name,
        "kind": kind,
        "range": place.as_json(),
        "selectionRange": place.as_json(),
    }
    return made | ({"containerName": container} if container else {})


def test_children_are_flattened_with_the_name_of_their_parent() -> None:
    value = [
        node("B", 5, 9, 0, 12, 0),
        node("A", 5, 0, 0, 5, 0, children=[node("m", 6, 3, 0, 4, 0), node("k", 6, 1, 0, 2, 0)]),
    ]

    assert read_document_symbols(value, URI) == [
        shown("A", 5, 0, 0, 5, 0),
        shown("k", 6, 1, 0, 2, 0, container="A"),
        shown("m", 6, 3, 0, 4, 0, container="A"),
        shown("B", 5, 9, 0, 12, 0),
    ]


@pytest.mark.parametrize("blank", ["", "  \t", None, 5, "\ud800"])
def test_a_nameless_symbol_is_dropped_and_its_children_have_no_container(blank: Any) -> None:
    value = [node(blank, 5, 0, 0, 5, 0, children=[node("m", 6, 1, 0, 2, 0)])]

    assert read_document_symbols(value, URI) == [shown("m", 6, 1, 0, 2, 0)]


def test_broken_ranges_are_repaired() -> None:
    value = [{"name": "f", "kind": "12", "range": {"start": {"line": 5, "character": 1}, "end": {"line": -2}}}]

    assert read_document_symbols(value, URI) == [shown("f", 0, 0, 0, 5, 1)]


def test_flat_symbol_information_keeps_the_container_it_names() -> None:
    place = Range(1, 0, 2, 0)
    value = [{"name": "m", "kind": 6, "containerName": "A", "location": {"uri": URI, "range": place.as_json()}}]

    assert read_document_symbols(value, URI) == [shown("m", 6, *place, container="A")]


@pytest.mark.parametrize("value", [None, {}, "x", [None, 5, []]])
def test_what_is_no_list_of_symbols_is_empty(value: Any) -> None:
    assert read_document_symbols(value, URI) == []


def test_nodes_are_counted_while_they_are_visited_nameless_ones_included() -> None:
    within = [node("", 5, 0, 0, 1, 0, children=[node("", 1, 0, 0, 1, 0)] * (MAX_NODES - 1))]

    assert read_document_symbols(within, URI) == []
    with pytest.raises(Refused) as caught:
        read_document_symbols([*within, node("f", 12, 0, 0, 1, 0)], URI)
    assert (caught.value.failure.code, caught.value.failure.text) == ("CAP_EXCEEDED", "Document symbols exceeded max total.")


def test_nesting_as_deep_as_the_cap_does_not_exhaust_the_stack() -> None:
    deep = node("f", 12, 0, 0, 1, 0)
    for _ in range(5_000):
        deep = node("f", 12, 0, 0, 1, 0, children=[deep])

    assert read_document_symbols([deep], URI) == [shown("f", 12, 0, 0, 1, 0, container="f"), shown("f", 12, 0, 0, 1, 0)]


def test_the_innermost_symbol_around_a_position_is_found() -> None:
    symbols = read_document_symbols(
        [node("A", 5, 0, 0, 9, 0, children=[node("m", 6, 2, 4, 5, 0, children=[node("n", 12, 3, 0, 4, 0)])])], URI
    )

    def name(line: int, character: int) -> str | None:
        found = enclosing_symbol(symbols, line, character)
        return None if found is None else found["name"]

    assert [name(0, 0), name(2, 3), name(2, 4), name(3, 5), name(9, 0), name(9, 1)] == ["A", "A", "m", "n", "A", None]
