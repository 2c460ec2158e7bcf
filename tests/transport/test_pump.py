"""Jobs begin at once as if in one task; the first that has to wait keeps it, and the rest begin in another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

from strictwire.pipeline.prime import Primed, begin
from strictwire.transport.pump import Pump

MARK: ContextVar[str] = ContextVar("mark", default="clean")


def run(main: Callable[[Pump], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        async with asyncio.timeout(10):
            return await main(Pump())

    return asyncio.run(inside())


async def from_a_callback(begin: Callable[[], None]) -> None:
    """As the event loop calls a transport: in no task."""
    done = asyncio.get_running_loop().create_future()

    def call() -> None:
        begin()
        done.set_result(None)

    asyncio.get_running_loop().call_soon(call)
    await done


def test_jobs_that_do_not_wait_are_done_at_once_in_order_and_in_one_task() -> None:
    async def main(pump: Pump) -> None:
        seen: list[tuple[int, object]] = []

        def job(number: int) -> None:
            seen.append((number, asyncio.current_task()))

        def begin() -> None:
            for number in range(5):
                pump.begin(job, number)
                assert len(seen) == number + 1
                assert asyncio.current_task() is None

        await from_a_callback(begin)

        assert [number for number, _ in seen] == [0, 1, 2, 3, 4]
        assert len({task for _, task in seen}) == 1
        assert not pump.tasks

    run(main)


def test_inside_a_task_a_job_begins_in_the_next_turn() -> None:
    async def main(pump: Pump) -> None:
        seen: list[object] = []
        pump.begin(lambda _: seen.append(asyncio.current_task()), None)
        assert seen == []
        await asyncio.sleep(0)

        assert len(seen) == 1
        assert seen != [asyncio.current_task()]

    run(main)


def _primed(handler: Callable[[int], Coroutine[Any, Any, None]]) -> Callable[[int], Coroutine[Any, Any, None] | None]:
    """A job that takes the first step of a handler itself."""

    async def rest(first: Primed) -> None:
        await first

    def job(number: int) -> Coroutine[Any, Any, None] | None:
        begun = begin(handler, number)
        return rest(begun) if isinstance(begun, Primed) else None

    return job


def test_what_a_job_asks_of_its_task_in_the_first_step_holds_later_too() -> None:
    async def main(pump: Pump) -> None:
        ended: list[object] = []

        async def handler(number: int) -> None:
            task = asyncio.current_task()
            assert task is not None
            try:
                if number == 0:
                    async with asyncio.timeout(0):
                        await asyncio.Event().wait()
                if number == 1:
                    task.cancel()
                    await asyncio.sleep(0)
                if number == 2:
                    task.cancel()
            except (TimeoutError, asyncio.CancelledError) as exc:
                ended.append((number, type(exc), task is asyncio.current_task()))
            else:
                ended.append(number)

        await from_a_callback(lambda: [pump.begin(_primed(handler), number) for number in range(4)] and None)
        while len(ended) < 4:
            await asyncio.sleep(0)

        assert sorted(ended, key=str) == [(0, TimeoutError, True), (1, asyncio.CancelledError, True), 2, 3]

    run(main)


def test_a_pump_that_is_closed_leaves_no_task_behind() -> None:
    async def main(pump: Pump) -> None:
        await from_a_callback(lambda: pump.begin(lambda _: None, None))
        assert len(asyncio.all_tasks()) == 2
        pump.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

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

        def job(number: int) -> None:
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
