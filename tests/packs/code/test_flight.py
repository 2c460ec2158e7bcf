"""Single flight: one execution for all who ask the same, also after they gave up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strictwire.fault.failure import Refused, fail
from strictwire.packs.code import flight
from strictwire.packs.code.flight import Flights, time_limit


def refusal(exc: BaseException) -> tuple[str, str]:
    assert isinstance(exc, Refused)
    return exc.failure.code, exc.failure.text


class Work:
    """Work that ends when `release` is set."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.runs = 0
        self.release = asyncio.Event()

    async def __call__(self) -> Any:
        self.runs += 1
        await self.release.wait()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_followers_share_the_result_and_the_slot_is_free_afterwards() -> None:
    async def main() -> tuple[list[Any], int]:
        flights, work = Flights[Any](late_seconds=60), Work("r")
        waiting = [asyncio.create_task(flights.join("k", work)) for _ in range(5)]
        other = asyncio.create_task(flights.join("other", work))
        await asyncio.sleep(0)
        work.release.set()
        shared = await asyncio.gather(*waiting, other)
        return [*shared, await flights.join("k", work)], work.runs

    assert asyncio.run(main()) == (["r"] * 7, 3)


def test_followers_share_the_refusal() -> None:
    async def main() -> tuple[list[Any], int]:
        flights, work = Flights[Any](late_seconds=60), Work(Refused(fail("NOT_FOUND")))
        work.release.set()
        waiting = [flights.join("k", work) for _ in range(3)]
        return await asyncio.gather(*waiting, return_exceptions=True), work.runs

    failures, runs = asyncio.run(main())

    assert ([exc.failure.code for exc in failures], runs) == (["NOT_FOUND"] * 3, 1)


def test_past_the_time_limit_of_its_callers_the_work_goes_on() -> None:
    async def join(flights: Flights[Any], work: Work) -> Any:
        async with time_limit(0.01):
            return await flights.join("k", work)

    async def main() -> tuple[list[Any], Any, int]:
        flights, work = Flights[Any](late_seconds=60), Work("late")
        late = await asyncio.gather(*(join(flights, work) for _ in range(3)), return_exceptions=True)
        again = asyncio.create_task(flights.join("k", work))
        await asyncio.sleep(0)
        work.release.set()
        return late, await again, work.runs

    late, result, runs = asyncio.run(main())

    assert [refusal(exc) for exc in late] == [("CAP_EXCEEDED", "Request timed out.")] * 3
    assert (result, runs) == ("late", 1)


def test_work_without_callers_ends_at_its_own_limit() -> None:
    async def main() -> tuple[Any, int]:
        flights, work = Flights[Any](late_seconds=0.01), Work("never")
        (failure,) = await asyncio.gather(flights.join("k", work), return_exceptions=True)
        return failure, len(flights._running)

    failure, running = asyncio.run(main())

    assert (refusal(failure), running) == (("CAP_EXCEEDED", "Request timed out."), 0)


def test_a_caller_that_is_cancelled_does_not_cancel_the_others() -> None:
    async def main() -> Any:
        flights, work = Flights[Any](late_seconds=60), Work("r")
        first, second = (asyncio.create_task(flights.join("k", work)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        work.release.set()
        return await second

    assert asyncio.run(main()) == "r"


def test_too_many_executions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight, "MAX_FLIGHTS", 2)

    async def main() -> Any:
        flights, work = Flights[Any](late_seconds=60), Work("r")
        waiting = [asyncio.create_task(flights.join(key, work)) for key in "ab"]
        await asyncio.sleep(0)
        (refused,) = await asyncio.gather(flights.join("c", work), return_exceptions=True)
        await flights.close()
        return refused, await asyncio.gather(*waiting, return_exceptions=True)

    refused, cancelled = asyncio.run(main())

    assert refused.failure.code == "OVERLOADED"
    assert [type(each) for each in cancelled] == [asyncio.CancelledError] * 2
