"""Lines and columns of JSON pointers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strictwire.check.location import locate, offset_location
from strictwire.contract.schema import escape_pointer

TEXT = """{
  "a": {"b": [1, {"c": "x,y:{}[]\\"z"}]},
  "d/e": null,
  "": [[], [true]]
}
"""


@pytest.mark.parametrize(
    ("pointer", "location"),
    [
        ("", (1, 1)),
        ("/a", (2, 3)),
        ("/a/b", (2, 9)),
        ("/a/b/0", (2, 15)),
        ("/a/b/1/c", (2, 19)),
        ("/d~1e", (3, 3)),
        ("/", (4, 3)),
        ("//1/0", (4, 13)),
    ],
)
def test_a_pointer_gives_the_location_of_a_member_name_or_of_an_item(pointer: str, location: tuple[int, int]) -> None:
    assert locate(TEXT, pointer) == location


@pytest.mark.parametrize(
    ("pointer", "location"),
    [("/none", (1, 1)), ("/a/none/x", (2, 3)), ("/a/b/9", (2, 9)), ("/a/b/x", (2, 9)), ("/d~1e/x", (3, 3))],
)
def test_a_pointer_that_does_not_resolve_gives_the_deepest_part_that_exists(pointer: str, location: tuple[int, int]) -> None:
    assert locate(TEXT, pointer) == location


def test_a_byte_offset_has_a_location_even_in_invalid_utf_8() -> None:
    assert offset_location(b"ab\ncd\xff", 5) == (2, 3)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


def pointers(value: Any, base: str = "") -> list[str]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [base, *(each for name, member in members for each in pointers(member, f"{base}/{escape_pointer(str(name))}"))]


@settings(deadline=None)
@given(value=JSON, indent=st.sampled_from([None, 1, 4]))
def test_every_pointer_of_every_document_has_a_distinct_location(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    locations = [locate(text, pointer) for pointer in pointers(value)]

    assert locations[1:] == sorted(set(locations[1:]))
