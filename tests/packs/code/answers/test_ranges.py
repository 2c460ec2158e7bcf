"""Ranges out of an engine's JSON: what is not one is refused or repaired, never raised."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.code.answers.ranges import Range, maybe_range, repaired_range


def lsp(a: Any, b: Any, c: Any, d: Any) -> dict[str, Any]:
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def test_a_range_is_read_and_written_back() -> None:
    assert maybe_range(lsp(1, 2, 3, 4)) == Range(1, 2, 3, 4)
    assert Range(1, 2, 3, 4).as_json() == lsp(1, 2, 3, 4)


def test_a_reversed_range_is_swapped() -> None:
    assert maybe_range(lsp(3, 4, 1, 2)) == Range(1, 2, 3, 4)
    assert repaired_range(lsp(3, 4, 1, 2)) == Range(1, 2, 3, 4)


@pytest.mark.parametrize(
    "value",
    [
        None, 5, [], {}, {"start": {"line": 0, "character": 0}}, lsp(-1, 0, 0, 0), lsp(0, 1.5, 0, 0), lsp(0, "1", 0, 0),
        lsp(True, 0, 0, 0), lsp(0, 0, 2**31, 0), lsp(float("nan"), 0, 0, 0), {"start": 1, "end": 2},
    ],
)  # fmt: skip
def test_anything_else_is_no_range(value: Any) -> None:
    assert maybe_range(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lsp(-1, -5, 2, 3), Range(0, 0, 2, 3)),
        (lsp(float("inf"), 1, 2, float("nan")), Range(0, 1, 2, 0)),
        (lsp(1.0, 2.9, 3, 4), Range(1, 2, 3, 4)),
        (None, Range(0, 0, 0, 0)),
    ],
)
def test_numbers_of_a_document_symbol_are_repaired(value: Any, expected: Range) -> None:
    assert repaired_range(value) == expected


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(max_size=3), lambda inner: st.dictionaries(
    st.sampled_from(["start", "end", "line", "character"]), inner)))  # fmt: skip
def test_no_json_makes_reading_raise(value: Any) -> None:
    assert isinstance(repaired_range(value), Range)
    assert maybe_range(value) is None or isinstance(maybe_range(value), Range)
