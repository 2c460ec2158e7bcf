"""Values and depth of a document, counted from its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.canon.json import Fault, Limits, NotStrict, parse
from strictwire.canon.shape import has_more_values, is_deeper

DOCUMENTS = st.recursive(
    st.text(alphabet='[]{}",:\\a\n', max_size=6) | st.integers(0, 9) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='[]{},"\\a', max_size=4), inner, max_size=3)
    ),
    max_leaves=40,
)


def count(value: Any) -> int:
    """The values of a document; an empty array or object counts as two."""
    if not isinstance(value, list | dict):
        return 1
    members = list(value.values()) if isinstance(value, dict) else value
    return 1 + (sum(map(count, members)) if members else 1)


@given(DOCUMENTS, st.integers(1, 20), st.booleans())
def test_only_values_outside_of_texts_are_counted(value: Any, limit: int, spaced: bool) -> None:
    raw = json.dumps(value, separators=(" , ", " : ") if spaced else (",", ":")).encode()

    assert has_more_values(raw, limit) == (count(value) > limit and len(raw) > limit)


@pytest.mark.parametrize("raw", [b"[" * 50, b"[[],[],[],[],[],[]!", b'["a","b","c","d","e\\"', b'{"a":[1,2,3,4,5,'])
def test_the_valid_beginning_of_an_invalid_document_is_counted(raw: bytes) -> None:
    assert has_more_values(raw, 5)


def test_a_document_with_too_many_values_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(NotStrict) as refused:
        parse(b"[1,2,3,4,5,!", Limits(values=5))  # a parser would report the syntax

    assert refused.value.fault is Fault.TOO_MANY_VALUES


def test_as_many_values_as_allowed_are_decoded() -> None:
    assert parse(b"[1,2,3,4]", Limits(values=5)) == [1, 2, 3, 4]


@pytest.mark.parametrize("limit", [1, 7, 128])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_the_depth_is_exact_at_its_limit(limit: int, opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    filler = b",".join([b'"\\\\[{"'] * 400)  # makes it too large for the test that counts brackets

    def nested(depth: int) -> bytes:
        return opening * (depth - 1) + b"[" + filler + b"]" + closing * (depth - 1)

    assert (is_deeper(nested(limit), limit), is_deeper(nested(limit + 1), limit)) == (False, True)
