"""The compact text: grouped by root and file, one line a file or an item, never more bytes than promised."""

from __future__ import annotations

from typing import Any

from strictwire.packs.code.answers.compact import (
    KINDS,
    caller_lines,
    diagnostic_lines,
    document_symbol_lines,
    kind_name,
    location_lines,
    match_lines,
    symbol_lines,
)
from strictwire.packs.code.answers.ranges import Range

ROOTS = ("file:///w/", "file:///w/inner/")


def at(uri: str, line: int, character: int) -> dict[str, Any]:
    return {"uri": uri, "range": Range(line, character, line, character + 3).as_json()}


def test_locations_are_grouped_by_root_and_file() -> None:
    found = [
        at("file:///w/a.py", 1, 2),
        at("file:///w/a.py", 3, 4),
        at("file:///w/b%20c.py", 5, 6),
        at("file:///w/inner/d.py", 7, 8),
    ]

    assert location_lines(found, ROOTS) == ["file:///w/", " a.py 1:2 3:4", " b%20c.py 5:6", "file:///w/inner/", " d.py 7:8"]


def test_symbols_name_kind_container_and_position() -> None:
    found = [
        {"name": "f", "kind": 12, "location": at("file:///w/a.py", 1, 2)},
        {"name": "m", "kind": 6, "location": at("file:///w/a.py", 3, 4), "containerName": "A"},
    ]

    assert symbol_lines(found, ROOTS) == ["file:///w/", " a.py", "  1:2 function f", "  3:4 method A.m"]


def test_document_symbols_are_indented_as_they_are_nested() -> None:
    def symbol(name: str, kind: int, *numbers: int) -> dict[str, Any]:
        return {"name": name, "kind": kind, "range": Range(*numbers).as_json(), "selectionRange": Range(*numbers).as_json()}

    found = [
        symbol("A", 5, 0, 0, 9, 0),
        symbol("m", 6, 1, 0, 2, 0),
        symbol("n", 6, 3, 0, 4, 0),
        symbol("B", 5, 10, 0, 11, 0),
    ]

    assert document_symbol_lines("file:///w/a.py", found, ROOTS) == [
        "file:///w/", " a.py", "  0:0 class A", "    1:0 method m", "    3:0 method n", "  10:0 class B",
    ]  # fmt: skip


def test_diagnostics_are_one_line_each_whatever_their_message() -> None:
    group = {
        "uri": "file:///w/a.py",
        "diagnostics": [
            {"range": Range(1, 2, 1, 3).as_json(), "severity": 1, "code": "E1", "message": "first\n  second"},
            {"range": Range(4, 0, 4, 1).as_json(), "message": "x" * 400},
        ],
    }

    assert diagnostic_lines([group], ROOTS) == ["file:///w/", " a.py", "  1:2 error E1 first second", "  4:0 " + "x" * 300]


def test_callers_list_the_places_they_call_from() -> None:
    caller = {
        "name": "f", "kind": 12, "location": at("file:///w/a.py", 0, 4),
        "calls": [{"range": Range(1, 2, 1, 3).as_json()}, {"range": Range(5, 0, 5, 1).as_json()}],
    }  # fmt: skip

    assert caller_lines([caller], ROOTS) == ["file:///w/", " a.py", "  function f 1:2 5:0"]


def test_a_match_shows_its_line() -> None:
    assert match_lines([at("file:///w/a.py", 1, 2) | {"text": "x  = 1"}], ROOTS) == ["file:///w/", " a.py", "  1:2 x = 1"]


def test_a_name_cannot_forge_a_line() -> None:
    forged = {"name": "f\n nextCursor evil", "kind": 12, "location": at("file:///w/a.py", 1, 2)}

    assert symbol_lines([forged], ROOTS)[-1] == "  1:2 function f nextCursor evil"


def test_every_kind_has_a_word() -> None:
    assert len(KINDS) == 27
    assert [kind_name(kind) for kind in (0, 5, 26, 27, 999)] == ["symbol", "class", "type parameter", "symbol", "symbol"]


def test_a_hundred_references_in_a_hundred_files_stay_below_eighty_bytes_each() -> None:
    found = [at(f"file:///w/package/subpackage/module_with_a_name_{number}.py", 1000, 100) for number in range(100)]
    text = "\n".join(location_lines(found, ROOTS))

    assert len(text.encode()) / len(found) < 80
