"""Order, duplicates and ids (A.3), with the vectors of the specification."""

from __future__ import annotations

import random
from typing import Any

import pytest

from strictwire.packs.code.answers.ids import diagnostic_id, document_symbol_id, stable_id, workspace_symbol_id
from strictwire.packs.code.answers.order import (
    diagnostic_key,
    document_symbol_key,
    hover_key,
    location_key,
    sort_unique,
    workspace_symbol_key,
)
from strictwire.packs.code.answers.ranges import Range


def place(a: int, b: int, c: int, d: int) -> dict[str, Any]:
    return Range(a, b, c, d).as_json()


def at(uri: str, *numbers: int) -> dict[str, Any]:
    return {"uri": uri, "range": place(*numbers)}


LOCATIONS = [
    at("file:///a", 0, 0, 0, 1), at("file:///a", 0, 0, 0, 2), at("file:///a", 0, 0, 1, 0), at("file:///a", 0, 5, 0, 6),
    at("file:///a", 2, 0, 2, 1), at("file:///a", 10, 0, 10, 1), at("file:///b", 0, 0, 0, 1),
]  # fmt: skip


def symbol(location: dict[str, Any], name: str, kind: int, container: str | None = None) -> dict[str, Any]:
    return {"location": location, "name": name, "kind": kind} | ({"containerName": container} if container else {})


SYMBOLS = [
    symbol(LOCATIONS[0], "a", 5), symbol(LOCATIONS[0], "b", 4), symbol(LOCATIONS[0], "b", 5, "A"),
    symbol(LOCATIONS[0], "b", 5, "B"), symbol(LOCATIONS[0], "b", 5), symbol(LOCATIONS[1], "a", 1),
    symbol(LOCATIONS[1], "\U0001f600", 1), symbol(LOCATIONS[1], "\ue000", 1),
]  # fmt: skip
"""An astral name comes before U+E000: by UTF-16 code units, not by code points."""

DOCUMENT_SYMBOLS = [
    {"range": place(0, 0, 1, 0), "name": "a", "kind": 1, "containerName": "x"},
    {"range": place(0, 0, 1, 0), "name": "a", "kind": 1},
    {"range": place(0, 0, 1, 0), "name": "a", "kind": 2},
    {"range": place(0, 0, 1, 0), "name": "b", "kind": 1},
    {"range": place(0, 0, 2, 0), "name": "a", "kind": 1},
]

DIAGNOSTICS = [
    {"range": place(0, 0, 0, 1), "severity": 1, "code": "a", "source": "s", "message": "m"},
    {"range": place(0, 0, 0, 1), "severity": 1, "code": "a", "source": "s", "message": "n"},
    {"range": place(0, 0, 0, 1), "severity": 1, "code": "a", "message": "a"},
    {"range": place(0, 0, 0, 1), "severity": 1, "message": "a"},
    {"range": place(0, 0, 0, 1), "severity": 2, "message": "a"},
    {"range": place(0, 0, 0, 1), "message": "a"},
    {"range": place(0, 1, 0, 1), "severity": 1, "message": "a"},
]

HOVERS = [{"kind": kind, "value": value} for kind in ("markdown", "plaintext") for value in ("a", "b")]


@pytest.mark.parametrize(
    ("ordered", "key"),
    [
        (LOCATIONS, location_key),
        (SYMBOLS, workspace_symbol_key),
        (DOCUMENT_SYMBOLS, document_symbol_key),
        (DIAGNOSTICS, diagnostic_key),
        (HOVERS, hover_key),
    ],
    ids=["locations", "workspace symbols", "document symbols", "diagnostics", "hovers"],
)
def test_any_order_with_duplicates_becomes_the_one_order(ordered: list[dict[str, Any]], key: Any) -> None:
    for seed in range(20):
        mixed = ordered * 3
        random.Random(seed).shuffle(mixed)

        assert sort_unique(mixed, key) == ordered, f"seed {seed}"


def test_members_in_another_order_are_the_same_item() -> None:
    turned = {"range": LOCATIONS[0]["range"], "uri": LOCATIONS[0]["uri"]}

    assert sort_unique([LOCATIONS[0], turned], location_key) == [LOCATIONS[0]]


def test_ids_are_those_of_the_vectors() -> None:
    assert stable_id("canonical") == "sha256:0deeb8fa1dbbee4c0dbe7f5e3c9183940139f26d22797ee8ab07c00557a4c2ff"
    assert (
        diagnostic_id("file:///abs/path/to/file.ts", Range(2, 3, 2, 8), severity=1, code="X", source="ts", message="hello")
        == "sha256:35c43b518e2aee3070678907e09c87d11e582ec700bbf97aef8ea0c17aab202a"
    )
    assert (
        document_symbol_id("file:///w/a.py", "Foo", 5, Range(1, 0, 20, 0), Range(1, 6, 1, 9), None)
        == "sha256:f080b906068684445fdd747d7f485133eef7ce756b160a9523341bf60eb81d95"
    )


def test_an_absent_part_of_an_id_is_empty() -> None:
    joined = stable_id("file:///w/a.py|Foo|5|1:0|20:0|")
    bare = stable_id("file:///w/a.py|1:0|1:1||||m")

    assert workspace_symbol_id("file:///w/a.py", "Foo", 5, Range(1, 0, 20, 0), None) == joined
    assert diagnostic_id("file:///w/a.py", Range(1, 0, 1, 1), severity=None, code=None, source=None, message="m") == bare
