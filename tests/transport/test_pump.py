"""Jobs share a task until one of them waits; then it keeps that task and the rest go on in another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from strictwire.transport.pump import Pump

MARK: ContextVar[str] = ContextVar("mark", default="clean")


def run(main: Callable[[Pump], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        async with asyncio.timeout(10):
            return await main(Pump())

    return asyncio.run(inside())


def test_jobs_that_do_not_wait_run_in_order_in_one_task() -> None:
    async def main(pump: Pump) -> None:
        seen: list[tuple[int, object]] = []

        async def job(number: int) -> None:
            seen.append((number, asyncio.current_task()))

        for number in range(5):
            pump.submit(job, number)
        await asyncio.sleep(0)

        assert [number for number, _ in seen] == [0, 1, 2, 3, 4]
        assert len({task for _, task in seen}) == 1

    run(main)


def test_a_job_that_waits_holds_nobody_up_and_keeps_its_task() -> None:
    async def main(pump: Pump) -> None:
        gate, seen = asyncio.Event(), []

        async def job(number: int) -> None:
            before = asyncio.current_task()
            if number == 1:
                await gate.wait()
            assert asyncio.current_task() is before
            seen.append(number)

        for number in range(4):
            pump.submit(job, number)
        while len(seen) < 3:
            await asyncio.sleep(0)
        assert seen == [0, 2, 3]
        gate.set()
        await asyncio.gather(*pump.tasks)
        assert seen == [0, 2, 3, 1]

    run(main)


def test_whatever_waits_can_be_cancelled_alone() -> None:
    async def main(pump: Pump) -> None:
        tasks: dict[int, asyncio.Task[Any] | None] = {}
        ended: list[str] = []

        async def job(number: int) -> None:
            tasks[number] = asyncio.current_task()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append(f"cancelled {number}")

        for number in range(3):
            pump.submit(job, number)
        while len(tasks) < 3:
            await asyncio.sleep(0)
        task = tasks[1]
        assert task is not None
        task.cancel()
        await asyncio.wait([task])
        assert ended == ["cancelled 1"]
        assert len(pump.tasks) == 2
        for each in tuple(pump.tasks):
            each.cancel()
        await asyncio.gather(*pump.tasks)

    run(main)


def test_a_context_variable_stays_with_the_job_that_set_it() -> None:
    async def main(pump: Pump) -> None:
        seen: list[str] = []

        async def job(number: int) -> None:
            seen.append(MARK.get())
            MARK.set(f"set by {number}")

        for number in range(4):
            pump.submit(job, number)
        while len(seen) < 4:
            await asyncio.sleep(0)
        assert seen == ["clean"] * 4

    run(main)


def test_a_job_that_comes_while_another_runs_is_not_forgotten() -> None:
    async def main(pump: Pump) -> None:
        seen: list[int] = []

        async def job(number: int) -> None:
            seen.append(number)
            if number < 50:
                pump.submit(job, number + 1)
                if number % 3 == 0:
                    await asyncio.sleep(0)

        pump.submit(job, 0)
        while len(seen) < 51:
            await asyncio.sleep(0)
        assert seen == list(range(51))
        await asyncio.gather(*pump.tasks)
        assert not pump.tasks

    run(main)
