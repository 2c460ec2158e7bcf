"""Symbols of the workspace: valid ones inside the roots, in order, once each."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.code.answers.ids import workspace_symbol_id
from strictwire.packs.code.answers.ranges import MAX_NUMBER, Range
from strictwire.packs.code.answers.workspace_symbols import NO_ID, read_workspace_symbols, with_id

URI = "file:///w/a.py"
PLACE = Range(1, 0, 2, 0)
AT = {"uri": URI, "range": PLACE.as_json()}
GOOD: dict[str, Any] = {"name": "f", "kind": 12, "location": AT, "containerName": "m"}
OUTSIDE = {**GOOD, "location": {"uri": "file:///etc/x", "range": PLACE.as_json()}}


def inside(uri: str) -> str | None:
    return uri if uri.startswith("file:///w/") else None


def test_valid_symbols_inside_the_roots_are_kept_in_order_and_once() -> None:
    broken = [
        *(
            {**GOOD, "name": ""},
            {**GOOD, "name": None},
            {**GOOD, "kind": -1},
            {**GOOD, "kind": "12"},
            {**GOOD, "kind": True},
        ),
        *({**GOOD, "location": {"uri": URI}}, {**GOOD, "location": None}, None, 5),
    ]
    other = {**GOOD, "containerName": ""}
    expected = [{"id": NO_ID, **GOOD}, {"id": NO_ID, "name": "f", "kind": 12, "location": AT}]

    assert read_workspace_symbols([[GOOD, *broken, OUTSIDE, other, GOOD]], inside) == expected
    assert read_workspace_symbols([[other, OUTSIDE], [GOOD, {**GOOD, "tags": [1]}]], inside) == expected
    assert read_workspace_symbols([None, 5, {}, []], inside) == []


def test_a_reversed_range_is_swapped() -> None:
    reversed_range = {"start": {"line": 2, "character": 0}, "end": {"line": 1, "character": 0}}

    assert read_workspace_symbols([[{**GOOD, "location": {"uri": URI, "range": reversed_range}}]], inside) == [
        {"id": NO_ID, **GOOD}
    ]


def test_the_id_is_that_of_the_parts_and_as_long_as_what_stands_for_it() -> None:
    made = with_id({"id": NO_ID, **GOOD})

    assert made == {"id": workspace_symbol_id(URI, "f", 12, PLACE, "m"), **GOOD}
    assert (len(made["id"]), next(iter(made))) == (len(NO_ID), "id")


_numbers = st.integers(-1, 3) | st.sampled_from([MAX_NUMBER, MAX_NUMBER + 1, 1.0, True, None, "1"])
_positions = st.fixed_dictionaries({"line": _numbers, "character": _numbers})
_symbols = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["f", "g", "", None]),
        "kind": st.sampled_from([12, 0, -1, 5.0, True]),
        "location": st.fixed_dictionaries(
            {"uri": st.just(URI), "range": st.fixed_dictionaries({"start": _positions, "end": _positions})}
        ),
    },
    optional={"containerName": st.sampled_from(["c", "", None])},
)


@given(st.lists(_symbols, max_size=4))
def test_a_list_is_read_the_same_as_a_whole_and_symbol_by_symbol(symbols: list[Any]) -> None:
    """One entry that is no symbol makes the whole list be read entry by entry."""
    assert read_workspace_symbols([symbols], inside) == read_workspace_symbols([[*symbols, None]], inside)
