"""Limits: how many calls run at once, and how many events a second."""

from __future__ import annotations

from strictwire.pipeline.limits import ConcurrencyLimit, TokenBucket


def test_a_call_takes_a_place_of_its_tool_and_of_all_tools() -> None:
    every = ConcurrencyLimit(2)
    first, second = ConcurrencyLimit(1, every), ConcurrencyLimit(5, every)

    assert [first.enter(), first.enter(), second.enter(), second.enter()] == [True, False, True, False]
    first.leave()
    assert second.enter()


def test_a_burst_passes_and_then_only_what_time_brings() -> None:
    bucket = TokenBucket(2, 0.5, now=10.0)
    at_once = [bucket.take(10.0) for _ in range(3)]

    assert at_once == [True, True, False]
    assert bucket.seconds_until_free == 2.0
    assert [bucket.take(11.9), bucket.take(12.0), bucket.take(12.0)] == [False, True, False]


def test_a_pause_fills_the_bucket_up_to_its_burst_and_no_further() -> None:
    bucket = TokenBucket(2, 1.0, now=0.0)

    assert [bucket.take(1000.0) for _ in range(3)] == [True, True, False]


def test_rounding_never_costs_a_token() -> None:
    """0.1 added ten times is less than 1 in binary floating point."""
    bucket = TokenBucket(1, 0.1, now=0.0)
    bucket.take(0.0)
    for second in range(1, 11):
        bucket.refill(float(second))

    assert bucket.tokens < 1
    assert bucket.has_token
