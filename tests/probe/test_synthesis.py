"""Generated arguments conform to their schema, or none are generated."""

from __future__ import annotations

from functools import reduce
from random import Random
from typing import Any

import pytest
from tests.probe.schemas import random_schema

from strictwire.canon.json import render
from strictwire.contract.conform import compile_schema
from strictwire.probe.synthesis import MAX_BYTES, accepts, maybe_arguments, random_arguments


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
        (closed(a={"type": "string", "format": "date"}), {"a": "2026-07-28"}),
        (closed(a={"enum": ["x", "y"]}, b={"const": 4}), {"a": "x", "b": 4}),
        (closed(a={"type": "array", "items": {"type": "integer"}, "minItems": 2}), {"a": [1, 1]}),
        (closed(a={"anyOf": [{"type": "integer"}, {"type": "null"}]}), {"a": 1}),
        (closed(a={"type": ["string", "null"]}), {"a": "a"}),
        (closed(a={"type": "string", "pattern": "^[0-9]{7}$"}), {"a": "0000000"}),
        (closed(a={"type": ["integer", "null"], "minimum": 3}), {"a": 3}),
        ({**closed(a={"$ref": "#/$defs/P"}), "$defs": {"P": closed(b={"type": "string"})}}, {"a": {"b": "a"}}),
    ],
)
def test_arguments_are_generated_for_simple_schemas(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert maybe_arguments(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        closed(a={"$ref": "https://example.com/remote"}),
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(a={"$ref": "#/$defs/A"})}},
        closed(a={"type": "nonsense"}),
    ],
)
def test_no_arguments_are_generated_for_other_schemas(schema: dict[str, Any]) -> None:
    assert maybe_arguments(schema) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {name: {"$ref": "#"} for name in "abcdefghij"}, "required": list("abcdefghij")},
        closed(a={"type": "string", "pattern": "^((((a{1000}){1000}){1000}){1000}){1000}$"}),
        closed(a=reduce(lambda inner, _: {"type": "array", "minItems": 300, "items": inner}, range(8), {"type": "null"})),
        closed(a={"type": "string", "minLength": 10**12}),
    ],
)
def test_hostile_schemas_end_without_arguments(schema: dict[str, Any]) -> None:
    """Each would take unbounded time or memory."""
    assert maybe_arguments(schema) is None
    assert random_arguments(schema, 0, 3) == []


def test_a_recursive_schema_with_many_members_gets_bounded_arguments() -> None:
    schema = {"type": "object", "properties": {name: {"$ref": "#"} for name in "abcdefghij"}, "additionalProperties": False}

    assert all(len(render(each)) <= MAX_BYTES for each in random_arguments(schema, 0, 3))


SEEDS = range(1500)


@pytest.mark.slow
def test_generated_arguments_conform_to_random_schemas_and_are_nearly_always_found() -> None:
    """Each schema is satisfiable by construction: a value comes with it. The seed of a failure is in the message."""
    missing = []
    for seed in SEEDS:
        schema, witness = random_schema(Random(seed))
        conformer = compile_schema(schema)
        assert conformer.accepts(witness), seed
        arguments = maybe_arguments(schema, seed)
        if arguments is None:
            missing.append(seed)
        made = [*([] if arguments is None else [arguments]), *random_arguments(schema, seed, 3)]
        assert all(conformer.accepts(each) for each in made), seed

    assert len(missing) <= len(SEEDS) // 100, missing


def test_equal_seeds_give_equal_arguments_and_others_give_others() -> None:
    schema = closed(a={"type": "integer", "minimum": 0, "maximum": 10**6}, b={"type": "string"})

    assert random_arguments(schema, 5, 4) == random_arguments(schema, 5, 4)
    assert random_arguments(schema, 5, 4) != random_arguments(schema, 6, 4)


def test_a_schema_that_does_not_compile_accepts_nothing() -> None:
    assert accepts({"type": 5}, {}) is False
