"""Which schemas can be part of a contract."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.canon.json import render
from strictwire.contract.schema import MAX_BYTES, MAX_DEPTH, SchemaProblem, SchemaRefused, check_schema


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"items": schema}
    return schema


def cyclic() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    schema["items"] = schema
    return schema


def wide() -> dict[str, Any]:
    """A schema with more brackets than the depth limit that is not deep."""
    return {"properties": {f"p{number}": {"items": [{}]} for number in range(2 * MAX_DEPTH)}}


@pytest.mark.parametrize("schema", [{}, nested(MAX_DEPTH), wide(), {"$ref": "#/$defs/a", "$defs": {"a": {}}}], ids=str)
def test_a_schema_within_the_limits_is_returned_encoded(schema: dict[str, Any]) -> None:
    assert check_schema(schema) == render(schema)


@pytest.mark.parametrize(
    ("schema", "problem", "pointer"),
    [
        ({"$schema": "x"}, SchemaProblem.UNKNOWN_DIALECT, "/$schema"),
        (nested(MAX_DEPTH + 1), SchemaProblem.TOO_DEEP, ""),
        (nested(100_000), SchemaProblem.TOO_DEEP, ""),
        (cyclic(), SchemaProblem.TOO_DEEP, ""),
        ({"description": "x" * MAX_BYTES}, SchemaProblem.TOO_LARGE, ""),
        ({"properties": {"a/b": {"$ref": "http://x/y"}}}, SchemaProblem.REMOTE_REF, "/properties/a~1b/$ref"),
        ({"items": {"$dynamicRef": "other.json#x"}}, SchemaProblem.REMOTE_REF, "/items/$dynamicRef"),
        ({"items": {"$recursiveRef": "other.json#x"}}, SchemaProblem.REMOTE_REF, "/items/$recursiveRef"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else type(value).__name__,
)
def test_a_refused_schema_has_the_problem_and_the_place(schema: Any, problem: SchemaProblem, pointer: str) -> None:
    with pytest.raises(SchemaRefused) as refused:
        check_schema(schema)

    assert (refused.value.problem, refused.value.pointer) == (problem, pointer)


@pytest.mark.parametrize("problem", SchemaProblem)
def test_every_problem_has_a_message_with_the_place(problem: SchemaProblem) -> None:
    assert str(SchemaRefused(problem, "/items/$ref")).endswith(" (at /items/$ref)")
    assert "at" not in str(SchemaRefused(problem)).split()
