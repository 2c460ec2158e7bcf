"""Validation: whether values conform, and violations that do not repeat the value."""

from __future__ import annotations

import pytest

from strictwire.contract.conform import MAX_VIOLATIONS, Violation, compile_schema, json_type
from strictwire.contract.schema import SchemaProblem, SchemaRefused

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["a", "b"],
    "properties": {
        "a": {"type": "integer", "minimum": 0.0},
        "b": {"type": "string", "maxLength": 3, "pattern": "^a"},
        "e": {"enum": ["x", "y"]},
        "c": {"const": 5},
        "u": {"type": "string", "format": "uuid"},
        "n": {"type": "array", "items": {"type": ["string", "null"]}, "maxItems": 2},
    },
}


@pytest.mark.parametrize("value", [{"a": 1, "b": "a"}, {"a": 1.0, "b": "ab"}, {"a": 2**70, "b": "a", "n": [None]}])
def test_a_conforming_value_is_accepted_and_one_point_zero_is_an_integer(value: object) -> None:
    conformer = compile_schema(SCHEMA)

    assert conformer.accepts(value)
    assert conformer.find_violations(value) == ()


@pytest.mark.parametrize(
    ("value", "violations"),
    [
        ({"a": "5", "b": "a"}, [Violation(path="/a", keyword="type", expected="integer", actual="string")]),
        ({"a": True, "b": "a"}, [Violation(path="/a", keyword="type", expected="integer", actual="boolean")]),
        ({"a": 1.5, "b": "a"}, [Violation(path="/a", keyword="type", expected="integer", actual="number")]),
        ({}, [Violation(path="/a", keyword="required"), Violation(path="/b", keyword="required")]),
        ({"a": -1, "b": "a"}, [Violation(path="/a", keyword="minimum", expected="0")]),
        (
            {"a": 1, "b": "secret"},
            [
                Violation(path="/b", keyword="maxLength", expected="3"),
                Violation(path="/b", keyword="pattern", expected="^a"),
            ],
        ),
        ({"a": 1, "b": "a", "e": "z"}, [Violation(path="/e", keyword="enum", expected='["x","y"]')]),
        ({"a": 1, "b": "a", "c": 6}, [Violation(path="/c", keyword="const", expected="5")]),
        ({"a": 1, "b": "a", "u": "no"}, [Violation(path="/u", keyword="format", expected="uuid")]),
        ({"a": 1, "b": "a", "x/y": 1}, [Violation(path="/x~1y", keyword="additionalProperties")]),
        (
            {"a": 1, "b": "a", "n": [1]},
            [Violation(path="/n/0", keyword="type", expected="null or string", actual="integer")],
        ),
        ([], [Violation(path="", keyword="type", expected="object", actual="array")]),
    ],
    ids=str,
)
def test_a_violation_has_the_path_and_the_keyword(value: object, violations: list[Violation]) -> None:
    conformer = compile_schema(SCHEMA)

    assert not conformer.accepts(value)
    assert list(conformer.find_violations(value)) == violations


def test_no_violation_repeats_the_value() -> None:
    found = compile_schema(SCHEMA).find_violations({"a": "hunter2", "b": "hunter2", "e": "hunter2", "u": "hunter2"})

    assert "hunter2" not in repr(found)


def test_the_number_of_violations_is_limited() -> None:
    schema = {"type": "array", "items": {"type": "string"}}

    assert len(compile_schema(schema).find_violations(list(range(1000)))) == MAX_VIOLATIONS


def test_many_unknown_members_do_not_hide_other_violations() -> None:
    value = {"a": "x", "b": "a", **{f"!{number}": 1 for number in range(50)}}

    assert compile_schema(SCHEMA).find_violations(value)[0].path == "/a"


def test_unevaluated_members_are_reported_like_additional_ones() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False}

    assert compile_schema(schema).find_violations({"z": 1}) == (Violation(path="/z", keyword="unevaluatedProperties"),)


def test_equal_schemas_are_compiled_once() -> None:
    assert compile_schema(dict(SCHEMA)) is compile_schema(dict(SCHEMA))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"$schema": "urn:unknown"}, SchemaProblem.UNKNOWN_DIALECT),
        ({"$schema": 5}, SchemaProblem.UNKNOWN_DIALECT),
        ({"type": "objekt"}, SchemaProblem.INVALID),
        ({"$ref": "#/nowhere"}, SchemaProblem.INVALID),
        ({"pattern": "("}, SchemaProblem.INVALID),
        ({"$ref": "http://127.0.0.1:9/x"}, SchemaProblem.REMOTE_REF),
        ({"items": {"$ref": "file:///etc/passwd"}}, SchemaProblem.REMOTE_REF),
        ({"$dynamicRef": "other.json"}, SchemaProblem.REMOTE_REF),
        ({"description": "x" * 2_000_000}, SchemaProblem.TOO_LARGE),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_schema_that_cannot_be_part_of_a_contract_is_refused(schema: dict[str, object], problem: SchemaProblem) -> None:
    with pytest.raises(SchemaRefused) as refused:
        compile_schema(schema)

    assert refused.value.problem is problem


def test_a_schema_that_is_nested_too_deep_is_refused() -> None:
    schema: dict[str, object] = {}
    for _ in range(500):
        schema = {"not": schema}

    with pytest.raises(SchemaRefused) as refused:
        compile_schema(schema)

    assert refused.value.problem is SchemaProblem.TOO_DEEP


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://x.example/a", "$ref": "a#/$defs/x", "$defs": {"x": {"type": "string"}}},
        {"$defs": {"q": {"$id": "https://x.example/q", "type": "string"}}, "$ref": "https://x.example/q"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"},
    ],
)
def test_embedded_resources_and_older_dialects_are_supported(schema: dict[str, object]) -> None:
    conformer = compile_schema(schema)

    assert (conformer.accepts("x"), conformer.accepts(1)) == (True, False)


def test_catastrophic_backtracking_ends_with_a_refusal() -> None:
    schema = {"type": "string", "pattern": r"^(?=(a+)+$)(a+)+$"}

    assert not compile_schema(schema).accepts("a" * 40 + "!")


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "integer"), (1.0, "integer"), (1.5, "number"), ("", "string"), ([], "array"),
     ({}, "object")],
)  # fmt: skip
def test_json_type_returns_the_name_in_json_schema(value: object, name: str) -> None:
    assert json_type(value) == name


@pytest.mark.parametrize(
    ("keyword", "bound", "value"),
    [
        ("minimum", 1.0, 0),
        ("maximum", -1.0, 0),
        ("exclusiveMinimum", 0.0, 0),
        ("exclusiveMaximum", 1e3, 1000),
        ("multipleOf", 2.0, 1),
    ],
)
def test_a_float_bound_without_a_fraction_is_compiled_as_an_integer(keyword: str, bound: float, value: int) -> None:
    """The engine compares with a float ten times slower."""
    conformer = compile_schema({"type": "object", "properties": {"a": {keyword: bound, "description": "0.5"}}})

    assert conformer.find_violations({"a": value}) == (Violation(path="/a", keyword=keyword, expected=str(int(bound))),)


def test_a_bound_with_a_fraction_is_unchanged() -> None:
    conformer = compile_schema({"type": "object", "properties": {"a": {"minimum": 0.5}, "b": {"maximum": 1.0}}})

    assert [conformer.accepts({"a": value, "b": value}) for value in (0, 0.5, 1, 1.5)] == [False, True, True, False]
