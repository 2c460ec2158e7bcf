"""The faster yes is never wrong: whatever converts fits by the general engine too, and both judge every value alike."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from msgspec import Struct, ValidationError, convert

from strictwire.contract.conform import compile_schema
from strictwire.contract.typed import hasten, maybe_type
from tests.contract.made import UNTYPED, Maker

ANYTHING = -(10**9)
"""Worth making even if it is slower."""


def _fits_type(value: Any, made: type[Struct]) -> bool:
    try:
        convert(value, made)
    except ValidationError:
        return False
    return True


def _converts(schema: dict[str, Any], value: Any) -> bool:
    made = maybe_type(schema, worth=ANYTHING)
    return made is not None and _fits_type(value, made)


def _engine(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=True)


def _compare(seed: int, schemas: int) -> tuple[int, int]:
    """How many values fit, and how many of them convert."""
    maker, fitting, converted = Maker(seed), 0, 0
    for _ in range(schemas):
        schema = maker.document()
        engine, made = _engine(schema), maybe_type(schema, worth=ANYTHING)
        judges = hasten(schema, engine.is_valid), compile_schema(schema).accepts
        for value in [maker.value(schema) for _ in range(12)]:
            fits, converts = engine.is_valid(value), made is not None and _fits_type(value, made)

            assert fits or not converts, (seed, schema, value)
            assert [judge(value) for judge in judges] == [fits, fits], (seed, schema, value)
            fitting, converted = fitting + fits, converted + converts
    return fitting, converted


def test_what_converts_fits_by_the_general_engine() -> None:
    fitting, converted = _compare(seed=1, schemas=150)

    assert converted > fitting / 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_what_converts_fits_by_the_general_engine_in_thousands_of_cases(seed: int) -> None:
    fitting, converted = _compare(seed=seed, schemas=1_000)

    assert converted > fitting / 5


ROOT = {"type": "object", "properties": {"v": {}}, "required": ["v"], "additionalProperties": False}


def _of(schema: Any, **more: Any) -> dict[str, Any]:
    return {**ROOT, "properties": {"v": schema}, **more}


TYPED = [
    ({"type": "integer", "minimum": 1.0, "exclusiveMaximum": 3}, [1, 2], [0, 3, True, 1.5, "1", None, -(2**70), 2**70]),
    ({"type": "number", "exclusiveMinimum": 0, "maximum": 2**53}, [1, 0.5, 2**53], [0, 0.0, -0.0, 2**53 + 1, True]),
    ({"type": "string", "minLength": 2, "maxLength": 2}, ["ab", "😀😀"], ["a", "abc", "😀", 12]),
    ({"type": ["string", "null"]}, ["a", None], [1, False]),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None, 2**70], ["1", True, 1.5]),
    ({"enum": ["a", 1, None]}, ["a", 1, None], ["b", True, 2, False]),
    ({"type": "array", "items": {"type": "boolean"}, "maxItems": 1}, [[], [True]], [[1], [True, True], {}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"x": 1}], [{"x": "1"}, []]),
    ({"type": "object", "properties": {"p": {"type": "null"}}}, [{}, {"p": None}, {"q": 1}], [{"p": 1}]),
    ({"$ref": "#/$defs/x", "description": "d", "x-note": 1}, ["ab"], ["abc", 1]),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), TYPED, ids=str)
def test_common_schemas_have_a_type_that_takes_what_fits_and_nothing_else(
    schema: Any, fitting: list[Any], others: list[Any]
) -> None:
    document = _of(schema, **{"$defs": {"x": {"type": "string", "maxLength": 2}}})

    assert [value for value in fitting if not _converts(document, {"v": value})] == []
    assert [value for value in others if _converts(document, {"v": value})] == []
    assert [_engine(document).is_valid({"v": value}) for value in fitting + others] == [True] * len(fitting) + [False] * len(
        others
    )


@pytest.mark.parametrize("schema", UNTYPED, ids=str)
def test_a_schema_that_no_type_says_exactly_has_none_and_is_judged_by_the_engine(schema: Any) -> None:
    knot = {"type": "object", "properties": {"a": {"$ref": "#/$defs/knot"}}}

    assert maybe_type(_of(schema, **{"$defs": {"knot": knot}}), worth=ANYTHING) is None


def test_a_type_is_used_where_it_is_faster_than_the_engine() -> None:
    """Members and bounded numbers are judged faster by a type; for lists of plain things it has to make new lists."""
    number = {"type": "number", "minimum": 0, "maximum": 9}
    row = {"type": "object", "properties": {"a": number, "b": {"type": "string"}, "c": number}}
    schemas: list[Any] = [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": row},
        {"type": "array", "items": {"$ref": "#/$defs/row"}},
    ]
    found = [maybe_type(_of(schema, **{"$defs": {"row": row}})) for schema in schemas]

    assert [made is not None for made in found] == [False, False, True, True]


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "array"}, {}, {"type": "object", "required": []}])
def test_only_an_object_with_names_is_worth_a_type(schema: dict[str, Any]) -> None:
    assert maybe_type(schema, worth=ANYTHING) is None


def test_definitions_that_double_at_each_step_are_given_up_on() -> None:
    pairs = {
        f"d{step}": {"type": "object", "properties": {name: {"$ref": f"#/$defs/d{step + 1}"} for name in "ab"}}
        for step in range(40)
    }

    assert maybe_type(_of({"$ref": "#/$defs/d0"}, **{"$defs": {**pairs, "d40": {"type": "string"}}}), worth=ANYTHING) is None


def test_a_large_schema_of_another_draft_is_left_to_the_engine() -> None:
    """In draft 4 `exclusiveMinimum` is a boolean."""
    texts = {f"p{number}": {"type": "string", "description": "x" * 40} for number in range(20)}
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {**texts, "n": {"type": "integer", "minimum": 1, "exclusiveMinimum": True}},
    }
    conformer = compile_schema(schema)

    assert [conformer.accepts({"n": number}) for number in (0, 1, 2)] == [False, False, True]


def test_a_large_schema_is_judged_as_by_the_engine_with_and_without_a_type() -> None:
    texts = {f"p{number}": {"type": "string", "description": "x" * 40} for number in range(20)}
    typed = {"type": "object", "properties": {**texts, "n": {"type": "integer"}}, "additionalProperties": False}
    untyped = {**typed, "properties": {**typed["properties"], "p0": {"type": "string", "pattern": "^a"}}}  # type: ignore[dict-item]
    values: list[Any] = [{"n": 1}, {"n": 1.0}, {"n": True}, {"n": 1.5}, {"p0": "ab"}, {"p0": "b"}, {"z": 1}, [], None]

    assert [compile_schema(typed).accepts(value) for value in values] == [
        True,
        True,
        False,
        False,
        True,
        True,
        False,
        False,
        False,
    ]
    assert [compile_schema(untyped).accepts(value) for value in values] == [
        True,
        True,
        False,
        False,
        True,
        False,
        False,
        False,
        False,
    ]
