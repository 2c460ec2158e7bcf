"""The tier of a finding follows from what the server did."""

from __future__ import annotations

import pytest

from strictwire.probe.harm import MEANINGS, WORST_FIRST, Harm, harm_of, rank
from strictwire.probe.observation import Observation, ResponseKind

EXPECTED = {
    ResponseKind.RESULT: Harm.COERCION,
    ResponseKind.TOOL_ERROR: Harm.STYLE,
    ResponseKind.ERROR: Harm.STYLE,
    ResponseKind.REFUSED: Harm.STYLE,
    ResponseKind.SILENCE: Harm.DROP,
    ResponseKind.ACCEPTED: Harm.DROP,
    ResponseKind.CLOSED: Harm.DROP,
    ResponseKind.GARBAGE: Harm.WRONG,
}


@pytest.mark.parametrize("kind", ResponseKind)
def test_the_response_decides_if_the_probe_declares_nothing(kind: ResponseKind) -> None:
    assert harm_of([Observation(kind=kind)], None) is EXPECTED[kind]


def test_a_probe_may_declare_its_tier() -> None:
    assert harm_of([Observation(kind=ResponseKind.RESULT)], Harm.EXPOSURE) is Harm.EXPOSURE


def test_a_server_that_ended_is_a_crash_whatever_the_probe_declares() -> None:
    seen = [Observation(kind=ResponseKind.ERROR), Observation(kind=ResponseKind.RESULT, is_fatal=True)]

    assert harm_of(seen, Harm.STYLE) is Harm.CRASH


def test_the_worst_of_several_responses_counts() -> None:
    seen = [Observation(kind=ResponseKind.ERROR), Observation(kind=ResponseKind.SILENCE)]

    assert harm_of(seen, None) is Harm.DROP


def test_crashes_come_first_and_style_last_and_every_tier_has_a_meaning() -> None:
    assert (WORST_FIRST[0], WORST_FIRST[-1]) == (Harm.CRASH, Harm.STYLE)
    assert [rank(harm) for harm in Harm] == list(range(len(Harm)))
    assert set(MEANINGS) == set(Harm)
