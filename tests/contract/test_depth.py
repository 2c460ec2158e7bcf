"""Whatever fits a schema is nested no deeper than its bound says, and where anything is open there is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strictwire.contract.conform import compile_schema
from strictwire.contract.depth import maybe_depth
from strictwire.contract.schema import SchemaRefused

CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}

BOUNDS = [
    (CLOSED, 1),
    ({"type": "object", "properties": {"a": CLOSED}, "additionalProperties": False}, 2),
    ({"type": "array", "items": {"type": "string"}}, 1),
    ({"type": "array", "items": CLOSED}, 2),
    ({"type": ["object", "null"], "additionalProperties": {"type": "array", "items": {"type": "number"}}}, 2),
    ({"type": "array", "prefixItems": [CLOSED], "items": False}, 2),
    (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/x"}},
            "additionalProperties": False,
            "$defs": {"x": CLOSED},
        },
        2,
    ),
    ({"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, CLOSED]}}, "additionalProperties": False}, 2),
    ({"type": "object", "additionalProperties": False}, 1),
]

OPEN: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "integer"}}},
    {"type": "object", "additionalProperties": True},
    {"type": "array"},
    {"type": "array", "items": {}},
    {"type": "array", "prefixItems": [CLOSED]},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"enum": [[1]]}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "additionalProperties": False,
        "$defs": {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
    },
    {"properties": {"a": CLOSED}, "additionalProperties": False},
    {"type": "array", "items": {"$ref": "x"}, "$defs": {"x": CLOSED}},
    {"type": "array", "items": {**CLOSED, "$id": "urn:b"}},
]


@pytest.mark.parametrize(("schema", "bound"), BOUNDS)
def test_closed_schemas_have_a_bound(schema: dict[str, Any], bound: int) -> None:
    assert maybe_depth(schema) == bound


@pytest.mark.parametrize("schema", OPEN)
def test_open_schemas_have_none(schema: dict[str, Any]) -> None:
    assert maybe_depth(schema) is None


def _levels(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_levels, value.values()), default=0)
    return 1 + max(map(_levels, value), default=0) if isinstance(value, list) else 0


schemas = st.recursive(
    st.sampled_from([{"type": "integer"}, {"type": ["string", "null"]}, {}, {"type": "array"}, {"const": []}, True]),
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.sampled_from(["object", ["object", "array"]])},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
                "patternProperties": st.dictionaries(st.just("^p"), inner, max_size=1),
                "additionalProperties": inner | st.just(False),
                "items": inner | st.just(False),
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
            },
        )
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    ),
    max_leaves=6,
)
values = st.recursive(
    st.none() | st.integers(0, 2) | st.just("s"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "p"]), inner, max_size=2),
    max_leaves=8,
)


@given(schemas, st.lists(values, max_size=8))
def test_nothing_that_fits_is_deeper_than_the_bound(schema: Any, found: list[Any]) -> None:
    whole = {"type": "object", "properties": {"a": schema}, "additionalProperties": False}
    bound = maybe_depth(whole)
    try:
        conformer = compile_schema(whole)
    except SchemaRefused:
        assume(False)
    for value in found:
        if bound is not None and conformer.accepts({"a": value}):
            assert _levels({"a": value}) <= bound
