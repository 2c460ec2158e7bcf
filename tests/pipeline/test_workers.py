"""The threads for handlers: bounded, reused, and never in the way of an exit."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import weakref

import pytest
from tests.fixtures.live import run

from strictwire.pipeline.soon import soon_of
from strictwire.pipeline.workers import Homecoming, Workers, homecoming_of


def test_results_and_exceptions_come_back() -> None:
    workers = Workers(2, name="w")

    assert workers.submit(lambda a, b: a + b, 1, b=2).result(5) == 3
    with pytest.raises(ZeroDivisionError):
        workers.submit(lambda: 1 // 0).result(5)
    with pytest.raises(SystemExit):
        workers.submit(sys.exit).result(5)


def test_no_more_than_the_limit_run_at_once_and_all_run_in_the_end() -> None:
    workers, lock, free = Workers(3, name="w"), threading.Lock(), threading.Event()
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        with lock:
            running.append(1)
            most.append(len(running))
        free.wait(5)
        with lock:
            running.pop()

    jobs = [workers.submit(work) for _ in range(20)]
    free.set()
    for job in jobs:
        job.result(5)

    assert max(most) <= 3


def test_a_thread_is_reused() -> None:
    workers = Workers(10, name="w")

    names = {workers.submit(lambda: threading.current_thread().name).result(5) for _ in range(50)}

    assert len(names) == 1


def test_what_waits_can_be_cancelled_and_closing_cancels_it() -> None:
    workers, free = Workers(1, name="w"), threading.Event()
    first, second, third = workers.submit(free.wait, 5), workers.submit(int), workers.submit(int)
    assert second.cancel()
    workers.shutdown(wait=False, cancel_futures=True)
    free.set()

    assert (first.result(5), second.cancelled(), third.cancelled()) == (True, True, True)
    with pytest.raises(RuntimeError):
        workers.submit(int)


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    program = (
        "import threading; from strictwire.pipeline.workers import Workers; "
        "Workers(1, name='w').submit(threading.Event().wait); print('end')"
    )

    assert run([sys.executable, "-c", program]).stdout == b"end\n"


def test_what_threads_did_comes_home_in_order_and_shares_a_waking(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[list[int], int]:
        loop, seen, woken = asyncio.get_running_loop(), list[int](), 0
        wake, home = loop.call_soon_threadsafe, Homecoming(loop)
        all_home = asyncio.Event()

        def note(*given: object) -> object:
            nonlocal woken
            woken += 1
            return wake(*given)  # type: ignore[arg-type]

        def bring() -> None:
            for number in range(100):
                home.call(lambda number=number: seen.append(number))  # type: ignore[misc]
            home.call(all_home.set)

        monkeypatch.setattr(loop, "call_soon_threadsafe", note)
        thread = threading.Thread(target=bring)
        thread.start()
        thread.join(5)  # the loop is busy with this meanwhile
        async with asyncio.timeout(5):
            await all_home.wait()
        return seen, woken

    assert asyncio.run(main()) == (list(range(100)), 1)


def test_nothing_that_comes_home_is_lost() -> None:
    async def main() -> int:
        home, count, all_home = homecoming_of(asyncio.get_running_loop()), 0, asyncio.Event()

        def arrive() -> None:
            nonlocal count
            count += 1
            if count == 4 * 5_000:
                all_home.set()

        def bring() -> None:
            for _ in range(5_000):
                home.call(arrive)

        threads = [threading.Thread(target=bring) for _ in range(4)]
        for thread in threads:
            thread.start()
        async with asyncio.timeout(30):
            await all_home.wait()
        for thread in threads:
            thread.join(5)
        return count

    assert asyncio.run(main()) == 20_000


def test_coming_home_to_a_loop_that_was_closed_or_is_gone_is_no_error() -> None:
    loop = asyncio.new_event_loop()
    home = Homecoming(loop)
    loop.close()
    home.call(int)
    late = Homecoming(loop)
    del loop
    gc.collect()

    late.call(int)


def test_a_loop_is_let_go() -> None:
    loop = asyncio.new_event_loop()
    assert (homecoming_of(loop), soon_of(loop)) == (homecoming_of(loop), soon_of(loop))
    loop.close()
    kept = weakref.ref(loop)
    del loop
    gc.collect()

    assert kept() is None
