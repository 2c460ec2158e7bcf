"""A handler's time runs while it works and stands still while a person is asked."""

from __future__ import annotations

import asyncio

import pytest

from strictwire.pipeline.deadline import Deadline


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_time_that_is_up_ends_the_wait() -> None:
    async def main() -> bool:
        deadline = Deadline(0.0)
        with pytest.raises(TimeoutError):
            async with deadline.arm():
                await asyncio.Event().wait()
        return deadline.timeout is not None and deadline.timeout.expired()

    assert asyncio.run(main())


def test_time_does_not_run_while_it_is_paused_whether_before_or_after_arming() -> None:
    async def main() -> bool:
        deadline = Deadline(0.0)
        deadline.pause()
        async with deadline.arm():
            await _turns(5)
            deadline.pause()
            await _turns(5)
            deadline.resume()
            await _turns(5)
        return deadline.timeout is not None and deadline.timeout.expired()

    assert not asyncio.run(main()), "one question was still open"


def test_time_runs_again_when_the_last_question_is_answered() -> None:
    async def main() -> bool:
        deadline = Deadline(0.0)
        deadline.pause()

        async def answered_at_last() -> None:
            async with deadline.arm():
                await _turns(3)
                deadline.resume()
                await asyncio.Event().wait()

        with pytest.raises(TimeoutError):
            await answered_at_last()
        return deadline.timeout is not None and deadline.timeout.expired()

    assert asyncio.run(main())


def test_without_a_limit_the_wait_has_no_end_of_its_own() -> None:
    async def main() -> float | None:
        deadline = Deadline(None)
        async with deadline.arm() as armed:
            deadline.pause()
            deadline.resume()
            await _turns(3)
            return armed.when()

    assert asyncio.run(main()) is None
