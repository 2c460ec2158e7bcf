"""Rate limits: one token bucket for each limit and principal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.gateway.policy.rates import MAX_BUCKETS, LimitExceeded, RateLimit, RateLimiter
from strictwire.gateway.policy.rules import AccessRequest


class ManualClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def by(principal: str = "ann", tool: str = "read") -> AccessRequest:
    return AccessRequest(target=tool, own_name=tool, principal=principal)


def test_a_burst_passes_and_the_next_call_is_given_the_time_to_wait() -> None:
    clock = ManualClock()
    rates = RateLimiter([RateLimit(name="l", calls=2, seconds=10, burst=3)], clock)
    taken = [rates.take(by()) for _ in range(4)]
    clock.now += 4.5
    early = rates.take(by())
    clock.now += 0.5

    assert taken == [None, None, None, LimitExceeded(limit="l", seconds=5.0)]
    assert early is not None
    assert early.retry_after_ms == 500
    assert rates.take(by()) is None


def test_every_principal_has_its_own_bucket() -> None:
    rates = RateLimiter([RateLimit(name="l", calls=1, seconds=60, burst=1)], ManualClock())

    assert [rates.take(by(name)) is None for name in ("ann", "bob", "ann", "bob")] == [True, True, False, False]


def test_a_limit_counts_only_what_it_covers() -> None:
    rates = RateLimiter(
        [RateLimit(name="l", calls=1, seconds=60, burst=1, tools=("write*",), principals=("a*",))], ManualClock()
    )
    asked = [by(tool="write"), by(tool="read"), by("bob", "write"), by(tool="write_all")]

    assert [rates.take(each) is None for each in asked] == [True, True, True, False]


def test_a_refused_call_uses_up_no_other_limit() -> None:
    clock = ManualClock()
    small = RateLimit(name="small", calls=1, seconds=1, burst=1)
    large = RateLimit(name="large", calls=2, seconds=1000, burst=2)
    rates = RateLimiter([small, large], clock)
    first, refused = rates.take(by()), rates.take(by())
    clock.now += 1

    assert (first, refused) == (None, LimitExceeded(limit="small", seconds=1.0))
    assert rates.take(by()) is None


def test_of_two_exceeded_limits_the_longer_wait_is_returned() -> None:
    limits = [RateLimit(name=name, calls=1, seconds=seconds, burst=1) for name, seconds in (("a", 5.0), ("b", 50.0))]
    rates = RateLimiter(limits, ManualClock())
    rates.take(by())

    assert rates.take(by()) == LimitExceeded(limit="b", seconds=50.0)


def test_the_number_of_buckets_is_bounded() -> None:
    rates = RateLimiter([RateLimit(name="l", calls=1, seconds=60, burst=1)], ManualClock())
    for number in range(MAX_BUCKETS + 10):
        rates.take(by(f"p{number}"))

    assert len(rates._buckets) == MAX_BUCKETS


@pytest.mark.slow
@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.integers(1, 5), st.integers(1, 5), st.floats(0.5, 20))
def test_no_more_calls_pass_than_the_burst_and_the_elapsed_time_allow(
    pauses: list[float], calls: int, burst: int, seconds: float
) -> None:
    clock = ManualClock()
    rates = RateLimiter([RateLimit(name="l", calls=calls, seconds=seconds, burst=burst)], clock)
    passed = 0
    for pause in pauses:
        clock.now += pause
        passed += rates.take(by()) is None

    assert passed <= burst + sum(pauses) * calls / seconds + 1e-6


@given(st.lists(st.floats(0, 5), min_size=1, max_size=30), st.integers(1, 5), st.floats(0.5, 20))
def test_a_caller_that_waits_as_long_as_told_passes(pauses: list[float], calls: int, seconds: float) -> None:
    clock = ManualClock()
    rates = RateLimiter([RateLimit(name="l", calls=calls, seconds=seconds, burst=2)], clock)
    for pause in pauses:
        clock.now += pause
        exceeded = rates.take(by())
        if exceeded is not None:
            clock.now += exceeded.retry_after_ms / 1000 + 1e-6

            assert rates.take(by()) is None
