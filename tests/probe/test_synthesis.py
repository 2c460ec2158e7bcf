"""Generated arguments conform to their schema, or none are generated."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.probe.synthesis import accepts, maybe_arguments


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties), "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object"}, {}),
        (closed(a={"type": "integer"}, b={"type": "boolean"}), {"a": 1, "b": False}),
        (closed(a={"type": "integer", "minimum": 5}), {"a": 5}),
        (closed(a={"type": "number", "exclusiveMinimum": 2.5, "maximum": 9}), {"a": 3}),
        (closed(a={"type": "integer", "maximum": -3}), {"a": -3}),
        (closed(a={"type": "string", "minLength": 3}), {"a": "aaa"}),
        (closed(a={"type": "string", "format": "date"}), {"a": "2026-01-01"}),
        (closed(a={"enum": ["x", "y"]}, b={"const": 4}), {"a": "x", "b": 4}),
        (closed(a={"type": "array", "items": {"type": "integer"}, "minItems": 2}), {"a": [1, 1]}),
        (closed(a={"anyOf": [{"type": "integer"}, {"type": "null"}]}), {"a": 1}),
        (closed(a={"type": ["string", "null"]}), {"a": "a"}),
        ({**closed(a={"$ref": "#/$defs/P"}), "$defs": {"P": closed(b={"type": "string"})}}, {"a": {"b": "a"}}),
    ],
)
def test_arguments_are_generated_for_simple_schemas(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert maybe_arguments(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        closed(a={"type": "string", "pattern": "^[0-9]{7}$"}),
        closed(a={"$ref": "https://example.com/remote"}),
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(a={"$ref": "#/$defs/A"})}},
        closed(a={"type": "nonsense"}),
    ],
)
def test_no_arguments_are_generated_for_other_schemas(schema: dict[str, Any]) -> None:
    assert maybe_arguments(schema) is None


def test_a_schema_that_does_not_compile_accepts_nothing() -> None:
    assert accepts({"type": 5}, {}) is False
