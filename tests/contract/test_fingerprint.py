"""Fingerprints: the published vectors, and properties. `tests/interop/test_javascript.py` runs a second implementation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strictwire.canon.json import parse_object, render
from strictwire.contract.fingerprint import (
    Aspect,
    Fingerprint,
    fingerprint,
    parse_fingerprint,
)
from strictwire.contract.subschemas import schema_texts, strip_text
from strictwire.sources.entries import contract_of

HERE = Path(__file__).parent
VECTORS = parse_object((HERE / "fingerprint_vectors.json").read_bytes())["vectors"]
PAGE = (HERE.parents[1] / "docs" / "FINGERPRINT.md").read_text("utf-8")
PING: dict[str, Any] = {"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}}


def of(**changed: Any) -> Fingerprint:
    return fingerprint(contract_of({**PING, **changed}))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_published_vectors_have_their_published_fingerprints(vector: dict[str, Any]) -> None:
    assert fingerprint(contract_of(vector["tool"])).as_json() == vector["fingerprint"]


def test_the_page_shows_the_fingerprint_of_its_example() -> None:
    assert all(digest in PAGE for digest in of().as_json().values() if digest)


@pytest.mark.parametrize(
    ("changed", "aspects"),
    [
        ({"description": "Other."}, {Aspect.DESCRIPTION}),
        ({"title": "Ping"}, {Aspect.DESCRIPTION}),
        ({"inputSchema": {"type": "object", "description": "Words."}}, {Aspect.DESCRIPTION}),
        ({"inputSchema": {"type": "object", "additionalProperties": False}}, {Aspect.INPUT}),
        ({"inputSchema": {"type": "object", "properties": {"title": {}}}}, {Aspect.INPUT}),
        ({"inputSchema": {"type": "object", "default": {"title": "x"}}}, {Aspect.INPUT}),
        ({"outputSchema": {"type": "object"}}, {Aspect.OUTPUT}),
        ({"annotations": {"readOnlyHint": True}}, {Aspect.ANNOTATIONS}),
        ({"icons": [], "_meta": {"x": 1}}, set()),
    ],
)
def test_a_change_affects_its_own_aspect_and_the_whole(changed: dict[str, Any], aspects: set[Aspect]) -> None:
    before, after = of(), of(**changed)

    assert (after.changed_from(before), after.whole != before.whole) == (aspects, bool(aspects))


def test_the_name_affects_only_the_whole() -> None:
    assert (of(name="pong").changed_from(of()), of(name="pong").whole == of().whole) == (frozenset(), False)


def test_a_fingerprint_survives_the_round_trip_through_json() -> None:
    assert parse_fingerprint(of(outputSchema={}).as_json()) == of(outputSchema={})


@pytest.mark.parametrize("wrong", [{}, {"whole": 1}, {**of().as_json(), "more": "x"}, {**of().as_json(), "input": None}])
def test_json_that_is_not_a_fingerprint_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        parse_fingerprint(wrong)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(schema=st.dictionaries(st.text() | st.sampled_from(["properties", "items", "title", "enum"]), JSON, max_size=4))
def test_encoding_and_decoding_a_schema_does_not_change_its_fingerprint(schema: dict[str, Any]) -> None:
    assert of(inputSchema=parse_object(render(schema))) == of(inputSchema=schema)


@settings(max_examples=100, deadline=None)
@given(schema=st.dictionaries(st.text() | st.sampled_from(["properties", "items", "title", "$defs"]), JSON, max_size=4))
def test_a_stripped_schema_has_no_texts_left(schema: dict[str, Any]) -> None:
    assert dict(schema_texts(strip_text(schema))) == {}
