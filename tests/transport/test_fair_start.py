"""Requests of several principals on one event loop: quick ones begin at once, slow ones take turns."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from strictwire.transport import fair_start
from strictwire.transport.fair_start import AT_ONCE, FIRST_WINDOW, MAX_WINDOW, TURN_SECONDS, FairStart


async def run(sent: list[str], seconds: float, *, is_eager: bool) -> list[str]:
    """The order in which calls end that take so many seconds of the event loop each.

    An eager task, of Python 3.12 and later, has run when it was started, so that it is never in flight.
    """
    fair, tasks, ended = FairStart(), [], []

    def compute(principal: str) -> None:
        time.sleep(seconds)
        ended.append(principal)

    async def serve(principal: str) -> None:
        compute(principal)

    def begin(principal: str) -> None:
        compute(principal) if is_eager else tasks.append(asyncio.create_task(serve(principal)))

    for principal in sent:
        fair.start(principal, partial(begin, principal), in_flight=sum(not task.done() for task in tasks))
    async with asyncio.timeout(20):
        while len(ended) < len(sent):
            await asyncio.sleep(0)
    return ended


@pytest.mark.parametrize("is_eager", [False, True])
def test_the_request_of_another_does_not_wait_for_all_slow_ones(monkeypatch: pytest.MonkeyPatch, is_eager: bool) -> None:
    monkeypatch.setattr(fair_start, "TURN_SECONDS", 0.2)
    ended = asyncio.run(run(["mallory"] * 60 + ["ann"], 0.01, is_eager=is_eager))

    assert ended.index("ann") <= AT_ONCE + MAX_WINDOW + 2


def test_slow_requests_of_three_principals_take_turns() -> None:
    sent = ["a"] * 40 + ["b"] * 10 + ["c"] * 10
    ended = asyncio.run(run(sent, TURN_SECONDS * 1.1, is_eager=False))

    assert sorted(ended) == sorted(sent)
    assert ended[-10:] == ["a"] * 10, "b and c, with less to do, are done first"


def test_requests_of_one_principal_keep_their_order() -> None:
    async def order() -> list[int]:
        fair, begun = FairStart(), []
        for number in range(100):
            fair.start("a", lambda number=number: begun.append(number), in_flight=number)
        while len(begun) < 100:
            await asyncio.sleep(0)
        return begun

    assert asyncio.run(order()) == list(range(100))


def test_few_requests_begin_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_start, "TURN_SECONDS", 3600.0)

    async def begin() -> int:
        fair, begun = FairStart(), []
        for number in range(MAX_WINDOW + 5):
            fair.start("a", lambda number=number: begun.append(number), in_flight=AT_ONCE)
        return len(begun)

    assert asyncio.run(begin()) == FIRST_WINDOW
