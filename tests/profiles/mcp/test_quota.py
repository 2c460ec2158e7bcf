"""Sessions that are kept for callers: quotas, fairness, expiry."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.profiles.mcp.quota import Holding, SessionLimits, SessionQuota, fair_limits, find_room

LIMITS = SessionLimits(total=4, per_principal=2)


def held(*sessions: str) -> list[Holding]:
    """Sessions by principal, least recently used first; `!` marks a busy one. Keys are their positions."""
    return [
        Holding(key=str(number), principal=each.rstrip("!"), is_busy=each.endswith("!"))
        for number, each in enumerate(sessions)
    ]


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [
        ([], True),
        (["ann"], True),
        (["ann", "ann"], "0"),
        (["ann!", "ann"], "1"),
        (["ann!", "ann!"], False),
        (["bob", "bob", "eve"], True),
        (["bob", "bob", "eve", "eve"], "0"),
        (["eve", "bob!", "eve!", "bob"], "0"),
        (["dan", "bob!", "eve", "bob"], "3"),
        (["bob!", "bob!", "eve!", "eve!"], False),
        (["ann!", "bob", "eve", "dan"], False),
        (["ann", "bob", "eve", "dan"], "0"),
    ],
)
def test_room_is_made_at_the_cost_of_the_caller_with_the_most_sessions(sessions: list[str], expected: object) -> None:
    assert find_room(held(*sessions), "ann", LIMITS) == expected


principals = st.sampled_from(["ann", "bob", "eve"])


@given(st.lists(st.tuples(principals, st.booleans()), max_size=12), principals)
def test_no_caller_loses_a_busy_session_or_falls_below_the_one_that_asks(taken: list[tuple[str, bool]], who: str) -> None:
    sessions = [Holding(key=str(n), principal=name, is_busy=busy) for n, (name, busy) in enumerate(taken)]
    room = find_room(sessions, who, LIMITS)
    counts = Counter(name for name, _ in taken)

    if isinstance(room, str):
        victim = sessions[int(room)]
        assert not victim.is_busy
        assert victim.principal == who or counts[victim.principal] > counts[who]


def test_one_caller_has_at_most_half_unless_it_is_given_more() -> None:
    assert fair_limits(10) == SessionLimits(total=10, per_principal=5)
    assert fair_limits(1) == SessionLimits(total=1, per_principal=1)
    assert fair_limits(10, per_principal=50).per_principal == 10


def test_an_idle_session_expires_and_one_in_use_does_not() -> None:
    async def run() -> list[str]:
        ended: list[str] = []
        emptied = asyncio.Event()

        def end(name: str) -> None:
            ended.append(name)
            if len(ended) == 2:
                emptied.set()

        busy = {"busy"}
        quota = SessionQuota(
            SessionLimits(total=9, per_principal=9, idle_seconds=0.05), is_busy=lambda name: name in busy, end=end
        )
        for name in ("busy", "streaming", "idle"):
            quota.add(name, "ann", name)
        with quota.using("streaming"):
            async with asyncio.timeout(10):
                while "idle" not in ended:
                    await asyncio.sleep(0.01)
            first = list(ended)
            busy.clear()
            await asyncio.wait_for(emptied.wait(), 10)

        assert first == ["idle"]
        assert quota.find("streaming", "ann") == "streaming"
        assert quota.find("streaming", "bob") is None
        assert quota.clear() == ["streaming"]
        return ended

    assert asyncio.run(run()) == ["idle", "busy"]


def test_sessions_that_are_being_opened_count() -> None:
    async def run() -> tuple[bool, bool]:
        quota: SessionQuota[str] = SessionQuota(fair_limits(2), is_busy=lambda _: False, end=lambda _: None)
        with quota.opening("ann"):
            during = quota.make_room("ann")
        return during, quota.make_room("ann")

    assert asyncio.run(run()) == (False, True)
