"""Daily mistakes are told as the engine tells them, or left to it."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.contract.conform import Conformer, Violation, compile_schema
from strictwire.contract.judge import maybe_program
from strictwire.contract.mistakes import MAX_MISTAKES, finder
from tests.contract.made import Maker

ROW = {"type": "object", "properties": {"id": {"type": "integer", "minimum": 0}}, "required": ["id"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "number"},
        "c": {"type": "string", "maxLength": 3},
        "d": {"type": ["string", "null"]},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}, "maxItems": 3},
        "a/b~c": {"type": "boolean"},
        "e": {"enum": ["x", "y"]},
        "free": {},
        "empty": {"type": "object", "additionalProperties": False},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
    "$defs": {"row": ROW},
}
FINE = {"a": 1, "b": 2}


def _engine(schema: dict[str, Any], value: Any) -> tuple[Violation, ...]:
    """What the engine alone says: one that has no schema to make a program of."""
    return Conformer(compile_schema(schema)._validator, None).find_violations(value)


def _find(schema: dict[str, Any], value: Any) -> Any:
    program = maybe_program(schema)
    return None if program is None else finder(program)(value)


TOLD: list[tuple[Any, list[tuple[str, str, str, str]]]] = [
    (FINE, []),
    ({}, [("/a", "required", "", ""), ("/b", "required", "", "")]),
    ({**FINE, "a": "1"}, [("/a", "type", "integer", "string")]),
    ({**FINE, "a": True, "b": None}, [("/a", "type", "integer", "boolean"), ("/b", "type", "number", "null")]),
    ({**FINE, "a": []}, [("/a", "type", "integer", "array")]),
    ({**FINE, "z": 1, "y/": {}}, [("/z", "additionalProperties", "", ""), ("/y~1", "additionalProperties", "", "")]),
    ({**FINE, "a/b~c": 1}, [("/a~1b~0c", "type", "boolean", "integer")]),
    ({**FINE, "rows": [{"id": 1}, {}, 3]}, [("/rows/1/id", "required", "", ""), ("/rows/2", "type", "object", "integer")]),
    ({**FINE, "rows": {"id": 1}}, [("/rows", "type", "array", "object")]),
    ({**FINE, "free": [{"x": None}]}, []),
    ([], [("", "type", "object", "array")]),
]
LEFT = [
    {**FINE, "a": 1.0},
    {**FINE, "a": 1.5},
    {**FINE, "a": "1", "c": "long"},
    {**FINE, "a": "1", "d": 1},
    {**FINE, "a": "1", "e": "z"},
    {**FINE, "a": "1", "e": "x"},
    {**FINE, "rows": [{"id": -1}]},
    {**FINE, "rows": [{"id": 1}] * 4},
    {**FINE, "empty": {"x": 1}},
    {**FINE, "rows": [3] * (MAX_MISTAKES + 1)},
    {**FINE, "a": (1,)},
]


@pytest.mark.parametrize(("value", "mistakes"), TOLD, ids=str)
def test_mistakes_are_told_as_by_the_engine(value: Any, mistakes: list[Any]) -> None:
    found = _find(SCHEMA, value)

    assert sorted(found) == sorted(mistakes)
    assert compile_schema(SCHEMA).find_violations(value) == _engine(SCHEMA, value)
    assert {(each.path, each.keyword, each.expected, each.actual) for each in _engine(SCHEMA, value)} == set(mistakes)


@pytest.mark.parametrize("value", LEFT, ids=str)
def test_whatever_else_is_wrong_is_left_to_the_engine(value: Any) -> None:
    assert _find(SCHEMA, value) is None
    assert compile_schema(SCHEMA).find_violations(value) == _engine(SCHEMA, value)


@pytest.mark.parametrize("count", [MAX_MISTAKES, MAX_MISTAKES + 1, 39, 60])
def test_many_mistakes_are_told_alike(count: int) -> None:
    names = [f"n{number:02}" for number in range(count)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names[::-1]}

    for value in ({}, dict.fromkeys(names, 1)):
        assert compile_schema(schema).find_violations(value) == _engine(schema, value)


def _compare(seed: int, schemas: int) -> tuple[int, int]:
    """How many values do not fit, and how many of those are told without the engine."""
    maker, misfits, told = Maker(seed), 0, 0
    for _ in range(schemas):
        schema = maker.document()
        for value in [maker.value(schema) for _ in range(12)]:
            found, expected = _find(schema, value), _engine(schema, value)

            assert compile_schema(schema).find_violations(value) == expected, (seed, schema, value)
            misfits, told = misfits + bool(expected), told + bool(found)
    return misfits, told


def test_the_engine_tells_the_same() -> None:
    misfits, told = _compare(seed=1, schemas=150)

    assert told > misfits / 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_the_engine_tells_the_same_in_thousands_of_cases(seed: int) -> None:
    misfits, told = _compare(seed=seed, schemas=1_000)

    assert told > misfits / 20
