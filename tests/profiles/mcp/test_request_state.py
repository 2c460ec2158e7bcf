"""`requestState`: whatever a client does to it, only what we sealed for this very request comes out again."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.profiles.mcp.request_state import LIFETIME, MAX_STATE, Sealer

BINDING = {"method": "tools/call", "target": "t", "arguments": {"a": 1}, "principal": "ann"}
ANSWERS = {"name": {"action": "accept", "content": {"name": "Ann"}}}


def sealer(now: float = 0.0, key: bytes = b"k" * 32) -> Sealer:
    return Sealer(key, lambda: now)


def test_what_was_sealed_comes_out() -> None:
    assert sealer().open(sealer().seal(ANSWERS, BINDING), BINDING) == ANSWERS


def test_it_lasts_an_hour() -> None:
    state = sealer().seal(ANSWERS, BINDING)

    assert sealer(LIFETIME).open(state, BINDING) == ANSWERS
    assert sealer(LIFETIME + 1).open(state, BINDING) is None


@pytest.mark.parametrize(
    "change", [{"principal": "bob"}, {"target": "u"}, {"arguments": {"a": 2}}, {"method": "prompts/get"}]
)
def test_it_is_bound_to_its_request_and_its_caller(change: dict[str, object]) -> None:
    assert sealer().open(sealer().seal(ANSWERS, BINDING), {**BINDING, **change}) is None


def test_another_key_does_not_open_it() -> None:
    assert sealer(key=b"x" * 32).open(sealer().seal(ANSWERS, BINDING), BINDING) is None


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, flip: int) -> None:
    sealed = bytearray(base64.urlsafe_b64decode(sealer().seal(ANSWERS, BINDING)))
    sealed[place % len(sealed)] ^= flip

    assert sealer().open(base64.urlsafe_b64encode(bytes(sealed)).decode(), BINDING) is None


@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_anything_else_is_refused(state: str) -> None:
    assert sealer().open(state, BINDING) is None


@pytest.mark.parametrize("state", ["", "-TAMPERED", "A" * (MAX_STATE + 1), "é", "====", "\ud800"])
def test_odd_texts_are_refused(state: str) -> None:
    assert sealer().open(state, BINDING) is None
