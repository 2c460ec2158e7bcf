"""Locations: three shapes of LSP, what is outside or broken is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.packs.code.answers.locations import Located, read_locations
from strictwire.packs.code.answers.ranges import Range


def inside(uri: str) -> str | None:
    return uri.lower() if uri.lower().startswith("file:///w/") else None


PLACE, OTHER = Range(1, 2, 1, 5).as_json(), Range(0, 0, 9, 0).as_json()
A = {"uri": "file:///w/a.py", "range": PLACE}


@pytest.mark.parametrize(
    "value",
    [
        A,
        [A],
        [A, A, {"uri": "file:///W/a.py", "range": PLACE}],
        {"targetUri": "file:///w/a.py", "targetRange": OTHER, "targetSelectionRange": PLACE},
        [{"targetUri": "file:///w/a.py", "targetRange": PLACE}],
        [{"targetUri": "file:///w/a.py", "targetRange": PLACE, "targetSelectionRange": {"start": -1}}],
        [A, None, 5, {}, {"uri": 5, "range": PLACE}, {"uri": "file:///w/a.py"}, {"targetUri": "file:///w/a.py"}],
    ],
)
def test_whatever_the_shape_the_location_is_the_same(value: Any) -> None:
    assert read_locations(value, inside) == Located([A], 0)


@pytest.mark.parametrize("value", [None, [], {}, "file:///w/a.py", 7, [[A]]])
def test_no_location_is_an_empty_list(value: Any) -> None:
    assert read_locations(value, inside) == Located([], 0)


def test_locations_outside_the_roots_are_dropped_and_counted() -> None:
    outside = {"uri": "file:///etc/passwd", "range": PLACE}

    assert read_locations([outside, A, outside], inside) == Located([A], 2)
