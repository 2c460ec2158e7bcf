"""Schema inclusion: a table of pairs with expected results, and property-based tests over generated schemas."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strictwire.check.inclusion.admit import admits
from strictwire.check.inclusion.decide import (
    Compared,
    Included,
    InclusionResult,
    NotIncluded,
    Undecided,
    decide,
    decide_pair,
)
from strictwire.check.inclusion.sample import Sampler, SeededRandom, collect_constants
from strictwire.check.inclusion.shape import Reading, open_root
from strictwire.contract.conform import compile_schema
from tests.check.inclusion.pairs import PAIRS

WORDS = {Included: "included", NotIncluded: "not included", Undecided: "undecided"}


def name_of(result: InclusionResult) -> str:
    return WORDS[type(result)]


@pytest.mark.parametrize(("name", "left", "right", "forth", "back"), PAIRS, ids=[re.sub(r"\W+", "_", p[0]) for p in PAIRS])
def test_pairs_have_the_expected_results_in_both_directions(
    name: str, left: dict[str, Any], right: dict[str, Any], forth: str, back: str
) -> None:
    assert (name_of(decide(left, right)), name_of(decide(right, left))) == (forth, back)


def test_the_table_has_at_least_120_pairs_with_different_names() -> None:
    assert len({pair[0] for pair in PAIRS}) == len(PAIRS) >= 120


@pytest.mark.parametrize("pair", PAIRS, ids=[re.sub(r"\W+", "_", p[0]) for p in PAIRS])
def test_a_witness_is_accepted_by_the_source_and_rejected_by_the_target(pair: tuple[Any, ...]) -> None:
    _, left, right, _, _ = pair
    for source, target in ((left, right), (right, left)):
        result = decide(source, target)
        if isinstance(result, NotIncluded):
            accepted = compile_schema(source).accepts(result.witness), compile_schema(target).accepts(result.witness)

            assert accepted == (True, False)


def test_equal_arguments_give_equal_results_and_witnesses() -> None:
    results = [[decide(left, right, seed=7) for _, left, right, _, _ in PAIRS] for _ in range(2)]

    assert results[0] == results[1]


NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.one_of(
    st.sampled_from([True, {}, {"type": "null"}, {"type": "boolean"}, {"type": "string"}, {"type": "integer"}]),
    st.builds(
        lambda low, size: {"type": "integer", "minimum": low, "maximum": low + size}, st.integers(-3, 3), st.integers(0, 4)
    ),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, st.sampled_from([-1, 0, 0.5, 2])),
    st.builds(lambda step: {"type": "number", "multipleOf": step}, st.sampled_from([0.5, 1, 2, 3])),
    st.builds(
        lambda low, size: {"type": "string", "minLength": low, "maxLength": low + size}, st.integers(0, 2), st.integers(0, 3)
    ),
    st.builds(
        lambda values: {"enum": values},
        st.lists(st.sampled_from([None, True, 0, 1, 1.0, "", "a", "bb", []]), min_size=1, max_size=4, unique_by=repr),
    ),
    st.sampled_from(
        [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "a$"}, {"type": "string", "format": "date"}]
    ),
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda properties, required, rest: {
            "type": "object",
            "properties": properties,
            "required": sorted(required),
            **({} if rest is None else {"additionalProperties": rest}),
        },
        st.dictionaries(NAMES, inner, max_size=3),
        st.sets(NAMES, max_size=2),
        st.one_of(st.none(), st.booleans(), inner),
    )


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects(inner),
        st.builds(lambda items, high: {"type": "array", "items": items, "maxItems": high}, inner, st.integers(0, 3)),
        st.builds(lambda first, rest: {"type": "array", "prefixItems": first, "items": rest}, branches, inner),
        st.builds(lambda each: {"anyOf": each}, branches),
        st.builds(lambda each: {"oneOf": each}, branches),
        st.builds(lambda each: {"allOf": each}, branches),
        st.builds(lambda each: {"not": each}, inner),
    )


SCHEMAS = st.recursive(LEAVES, combined, max_leaves=6).map(lambda schema: {} if schema is True else schema)
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 2, 0.5, 1.0, 3, "", "a", "ab", "bb", "aaaa", "2026-07-28"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), inner, max_size=3)
    ),
    max_leaves=5,
)
MANY = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


@pytest.mark.slow
@MANY
@given(old=SCHEMAS, new=SCHEMAS, values=st.lists(VALUES, max_size=30))
def test_a_safe_change_of_an_input_never_rejects_a_value_that_the_old_schema_accepts(
    old: dict[str, Any], new: dict[str, Any], values: list[Any]
) -> None:
    if isinstance(decide(old, new, tries=20), Included):
        accepted = [value for value in values if compile_schema(old).accepts(value)]

        assert [value for value in accepted if not compile_schema(new).accepts(value)] == []


@pytest.mark.slow
@MANY
@given(old=SCHEMAS, new=SCHEMAS, seed=st.integers(0, 2**32))
def test_a_safe_change_of_an_output_never_allows_a_value_that_the_old_schema_excludes(
    old: dict[str, Any], new: dict[str, Any], seed: int
) -> None:
    if not isinstance(decide(new, old, tries=20), Included):
        return
    sampler, random = Sampler(root=open_root(new), constants=collect_constants(new, old)), SeededRandom(seed)
    for _ in range(40):
        try:
            value = sampler.random_value(new, random)
        except LookupError:
            continue
        if compile_schema(new).accepts(value):
            assert compile_schema(old).accepts(value)


@pytest.mark.slow
@MANY
@given(schema=SCHEMAS, narrower=SCHEMAS)
def test_an_intersection_is_included_in_its_parts_and_parts_in_their_union(
    schema: dict[str, Any], narrower: dict[str, Any]
) -> None:
    both, either = {"allOf": [schema, narrower]}, {"anyOf": [schema, narrower]}

    assert "not included" not in {name_of(decide(both, schema, tries=20)), name_of(decide(schema, either, tries=20))}


@pytest.mark.slow
@MANY
@given(schema=SCHEMAS, value=VALUES)
def test_acceptance_by_pieces_agrees_with_the_engine(schema: dict[str, Any], value: Any) -> None:
    accepted = admits(schema, value, open_root(schema))

    assert accepted in (None, compile_schema(schema).accepts(value))


def test_a_negated_schema_is_read_as_written_even_if_objects_are_read_as_closed() -> None:
    source = {"type": "object", "properties": {"c": {"type": "number"}}, "required": ["a", "c"]}
    target = {"not": {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["c"]}}
    result = decide_pair(*(Compared(schema=each, reading=Reading.DECLARED) for each in (source, target)))

    assert isinstance(result, NotIncluded)
