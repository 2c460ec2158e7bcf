"""The schemas directly under a keyword."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.contract.subschemas import map_subschemas, subschemas


@pytest.mark.parametrize(
    ("keyword", "value", "found"),
    [
        ("properties", {"a/b": {}, "c": True}, [("/a~1b", {}), ("/c", True)]),
        ("anyOf", [{}, {"type": "null"}], [("/0", {}), ("/1", {"type": "null"})]),
        ("items", {"type": "string"}, [("", {"type": "string"})]),
        ("items", [{}, {}], [("/0", {}), ("/1", {})]),
        ("not", {}, [("", {})]),
        ("enum", [{"not": {}}], []),
        ("const", {"not": {}}, []),
        ("default", {"properties": {}}, []),
        ("properties", [{}], []),
    ],
)
def test_schemas_are_found_under_maps_lists_and_singles_but_not_in_data(keyword: str, value: Any, found: Any) -> None:
    assert list(subschemas(keyword, value)) == found


@pytest.mark.parametrize(
    ("keyword", "value", "changed"),
    [
        ("properties", {"a": 1, "b": 2}, {"a": [1], "b": [2]}),
        ("oneOf", [1, 2], [[1], [2]]),
        ("items", [1, 2], [[1], [2]]),
        ("items", 1, [1]),
        ("const", 1, 1),
        ("enum", [1, 2], [1, 2]),
    ],
)
def test_a_change_is_applied_to_each_schema_and_not_to_data(keyword: str, value: Any, changed: Any) -> None:
    assert map_subschemas(keyword, value, lambda schema: [schema]) == changed
