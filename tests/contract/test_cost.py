"""The work that a schema can demand is known before any value is checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from strictwire.contract.conform import MAX_UNMEASURED, TOO_COSTLY, UNEXPLAINED, Violation, compile_schema
from strictwire.contract.cost import MAX_CHECKS, MAX_PATH, measure, size_of
from strictwire.contract.schema import SchemaProblem, SchemaRefused

PATIENCE = 5.0
"""Seconds: ten times what the budget takes, for a busy machine. Without a budget, each case takes minutes or never ends."""


def doubling(levels: int, keyword: str = "anyOf") -> dict[str, Any]:
    """A schema of about 70 bytes a level that demands 2 ** levels checks."""
    definitions: dict[str, Any] = {"a0": {"type": "string"}}
    for level in range(1, levels + 1):
        definitions[f"a{level}"] = {keyword: [{"$ref": f"#/$defs/a{level - 1}"}, {"$ref": f"#/$defs/a{level - 1}"}]}
    return {"type": "object", "properties": {"x": {"$ref": f"#/$defs/a{levels}"}}, "$defs": definitions}


def items(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": {"items": schema}}}


def timed(work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    result = work()

    assert time.perf_counter() - began < PATIENCE
    return result


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_a_schema_that_doubles_with_every_reference_is_refused(keyword: str) -> None:
    with pytest.raises(SchemaRefused) as refused:
        timed(lambda: compile_schema(doubling(30, keyword)))

    assert refused.value.problem is SchemaProblem.TOO_COMPLEX


REFERRED_BY_NAME = {
    "an anchor": ({"$anchor": "b", "type": "string"}, "#b"),
    "a dynamic anchor": ({"$dynamicAnchor": "b", "type": "string"}, "#b"),
    "an id": ({"$id": "https://example.org/b", "type": "string"}, "https://example.org/b"),
    "a relative id": ({"$id": "https://example.org/b", "type": "string"}, "b"),
    "an escaped pointer": ({"type": "string"}, "#/$defs/b%2Fa~1"),
}


@pytest.mark.parametrize("kind", REFERRED_BY_NAME)
def test_references_of_every_form_are_followed(kind: str) -> None:
    leaf, reference = REFERRED_BY_NAME[kind]
    name = "b/a/" if "pointer" in kind else "b"
    branches = {"anyOf": [{"$ref": reference.replace("~1", "~1")}] * 3}

    assert measure({**branches, "$defs": {name: leaf}}).checks == 1 + 3 * (1 + 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"x": {"enum": [f"v{number}" for number in range(80_000)]}}},
        {"type": "object", "properties": {"x": {"oneOf": [{"const": number} for number in range(30_000)]}}},
    ],
    ids=["80,000 options", "30,000 branches"],
)
def test_a_schema_of_too_many_values_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaRefused) as refused:
        timed(lambda: compile_schema(schema))

    assert refused.value.problem is SchemaProblem.TOO_LARGE


def test_a_long_chain_of_references_is_refused_without_exhausting_the_stack() -> None:
    definitions: dict[str, Any] = {"a0": {}}
    definitions |= {f"a{level}": {"$ref": f"#/$defs/a{level - 1}"} for level in range(1, 5000)}

    with pytest.raises(SchemaRefused) as refused:
        compile_schema({"$ref": "#/$defs/a4999", "$defs": definitions})

    assert refused.value.problem is SchemaProblem.TOO_COMPLEX


def test_many_properties_are_cheap_because_each_applies_to_a_part_of_its_own() -> None:
    wide = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(3000)}}

    assert measure(wide).checks == 2


def test_definitions_that_share_others_are_not_taken_for_branches() -> None:
    """A tree of models where each uses the next one ten times: ten billion places, and one of them at a time."""
    models: dict[str, Any] = {"m0": {"type": "string"}}
    for level in range(1, 11):
        models[f"m{level}"] = {"properties": {f"p{number}": {"$ref": f"#/$defs/m{level - 1}"} for number in range(10)}}

    assert measure({"$ref": "#/$defs/m10", "$defs": models}).checks < MAX_UNMEASURED


COSTLY = {
    "constants": ({"oneOf": [{"const": number} for number in range(500)]}, 499, -1),
    "objects": ({"anyOf": [{"properties": {"k": {"const": number}}} for number in range(300)]}, {"k": 299}, {"k": -1}),
    "enumerated objects": ({"enum": [{"a": number} for number in range(500)]}, {"a": 499}, {"a": -1}),
    "patterns": ({"anyOf": [{"pattern": f"^a.*b{number}$"} for number in range(300)]}, "axxb299", "!"),
    "members": ({"dependentRequired": {f"p{number}": ["p0"] for number in range(5000)}}, {"p0": 1}, {"p1": 1}),
    "backtracking": ({"pattern": r"^(a|aa)+\1$"}, "a" * 40, "a" * 40 + "!"),
}
"""A schema for items, a valid item, and an invalid one."""


@pytest.mark.parametrize("kind", COSTLY)
def test_the_largest_value_that_is_allowed_is_checked_in_time(kind: str) -> None:
    schema, valid, _ = COSTLY[kind]
    conformer = compile_schema(items(schema))
    number = (MAX_CHECKS // measure(items(schema)).checks - 2) // size_of(valid, 1000)

    assert timed(lambda: conformer.accepts({"x": [valid] * number}))


@pytest.mark.parametrize("kind", COSTLY)
def test_a_larger_value_is_refused_unchecked_with_a_reason(kind: str) -> None:
    schema, valid, _ = COSTLY[kind]
    conformer = compile_schema(items(schema))
    value = {"x": [valid] * (MAX_CHECKS // measure(items(schema)).checks + 1)}

    assert not timed(lambda: conformer.accepts(value))
    assert conformer.find_violations(value) == (TOO_COSTLY,)


@pytest.mark.parametrize("number", [1, 40, 1000])
@pytest.mark.parametrize("kind", COSTLY)
def test_the_violations_of_a_costly_schema_are_found_in_time(kind: str, number: int) -> None:
    schema, _, invalid = COSTLY[kind]
    conformer = compile_schema(items(schema))

    assert timed(lambda: conformer.find_violations({"x": [invalid] * number})) != ()


def test_a_large_value_has_its_first_error_explained() -> None:
    """The engine would explain all of the 20,000 x 40 failed checks: 24 s and 1.3 GB."""
    conformer = compile_schema(items({"anyOf": [{"const": number} for number in range(1, 41)]}))

    assert timed(lambda: conformer.find_violations({"x": [1, *[0] * 20_000]})) == (Violation(path="/x/1", keyword="anyOf"),)


AGAIN = {"$ref": "#/$defs/n"}
LISTS = [{"type": "array", "maxItems": 9, "items": AGAIN}, {"type": "array", "items": AGAIN}]
RECURSIVE: dict[str, dict[str, Any]] = {
    "anyOf": {"anyOf": LISTS},
    "oneOf": {"oneOf": LISTS},
    "allOf": {"allOf": LISTS},
    "if": {"type": "array", "if": {"items": AGAIN}, "then": {"items": AGAIN}, "else": {"items": AGAIN}},
}
"""Each level of a value may be checked twice, so 60 levels 2 ** 60 times, unless the engine remembers."""


@pytest.mark.parametrize("keyword", RECURSIVE)
def test_a_recursive_schema_that_branches_is_checked_and_explained_in_time(keyword: str) -> None:
    conformer = compile_schema(
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": RECURSIVE[keyword]}}
    )
    value: Any = 5
    for _ in range(60):
        value = [value]

    assert not timed(lambda: conformer.accepts({"x": value}))
    assert timed(lambda: conformer.find_violations({"x": value})) == (UNEXPLAINED,)
    assert conformer.find_violations({"x": [5]}) != (UNEXPLAINED,)


def test_a_schema_at_the_limit_is_accepted_and_one_beyond_it_refused() -> None:
    at_limit = max(number for number in range(24_000, 25_000) if 1 + 4 * number + number // 64 <= MAX_PATH)

    assert measure({"enum": [[number] for number in range(at_limit)]}).checks > MAX_PATH - 10
    with pytest.raises(SchemaRefused):
        measure({"enum": [[number] for number in range(at_limit + 1)]})
