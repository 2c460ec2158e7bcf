"""Hover contents: four shapes, one order, two caps, and a last fragment cut to fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.code.answers.hovers import MAX_CODE_POINTS, MAX_FRAGMENTS, fit_last, read_hovers
from strictwire.packs.code.answers.ranges import Range


def markdown(value: str) -> dict[str, Any]:
    return {"kind": "markdown", "value": value}


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ("text", [markdown("text")]),
        ({"kind": "plaintext", "value": "t"}, [{"kind": "plaintext", "value": "t"}]),
        ({"language": "python", "value": "x = 1"}, [markdown("```python\nx = 1\n```")]),
        ({"language": " ", "value": "x"}, [markdown("x")]),
        ({"kind": "html", "value": "x"}, []),
        ({"value": "x"}, []),
        (
            ["b", "a", "b", {"kind": "plaintext", "value": "a"}],
            [markdown("a"), markdown("b"), {"kind": "plaintext", "value": "a"}],
        ),
        (["", None, 5, {"kind": "markdown"}], []),
        (None, []),
    ],
)
def test_every_shape_becomes_fragments_in_order(contents: Any, expected: list[Any]) -> None:
    assert read_hovers([{"contents": contents}]).contents == expected


@pytest.mark.parametrize("value", [None, [], 5, "x"])
def test_no_hover_is_no_contents(value: Any) -> None:
    assert read_hovers([value]) == ([], None, False)


def test_the_range_is_the_smallest_by_start_then_end() -> None:
    places = [Range(2, 0, 2, 9), Range(1, 0, 5, 0), Range(1, 0, 2, 0)]
    hovers: list[Any] = [{"contents": "a", "range": place.as_json()} for place in places]

    assert read_hovers([*hovers, {"contents": "b"}]).place == Range(1, 0, 2, 0)


def test_fragments_and_code_points_are_capped() -> None:
    astral = "\U0001f600"
    many = read_hovers([{"contents": [f"{n}" for n in range(MAX_FRAGMENTS + 1)]}])
    long = read_hovers([{"contents": astral * (MAX_CODE_POINTS + 1)}])
    exact = read_hovers([{"contents": astral * MAX_CODE_POINTS}])

    assert (len(many.contents), many.truncated) == (MAX_FRAGMENTS, True)
    assert (long.contents, long.truncated) == (exact.contents, True)
    assert (exact.contents[0]["value"], exact.truncated) == (astral * MAX_CODE_POINTS, False)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4), st.integers(0, 400))
def test_the_last_fragment_is_cut_to_the_longest_prefix_that_fits(texts: list[str], limit: int) -> None:
    contents = [markdown(text) for text in texts]

    def fits(candidate: list[Any]) -> bool:
        return sum(len(each["value"].encode()) + 10 for each in candidate) <= limit

    fitted = fit_last(contents, fits)

    if fitted is None:
        assert not fits([*contents[:-1], markdown("")])
    else:
        kept = len(fitted[-1]["value"])
        assert fits(fitted)
        assert fitted == [*contents[:-1], markdown(texts[-1][:kept])]
        assert kept == len(texts[-1]) or not fits([*contents[:-1], markdown(texts[-1][: kept + 1])])
