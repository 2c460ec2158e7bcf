"""The threads for handlers: bounded, reused, and never in the way of an exit."""

from __future__ import annotations

import sys
import threading

import pytest
from tests.fixtures.live import run

from strictwire.pipeline.threads import DaemonThreads


def test_results_and_exceptions_come_back() -> None:
    workers = DaemonThreads(2, name="w")

    assert workers.submit(lambda a, b: a + b, 1, b=2).result(5) == 3
    with pytest.raises(ZeroDivisionError):
        workers.submit(lambda: 1 // 0).result(5)
    with pytest.raises(SystemExit):
        workers.submit(sys.exit).result(5)


def test_no_more_than_the_limit_run_at_once_and_all_run_in_the_end() -> None:
    workers, lock, free = DaemonThreads(3, name="w"), threading.Lock(), threading.Event()
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
    workers = DaemonThreads(10, name="w")

    names = {workers.submit(lambda: threading.current_thread().name).result(5) for _ in range(50)}

    assert len(names) == 1


def test_what_waits_can_be_cancelled_and_closing_cancels_it() -> None:
    workers, free = DaemonThreads(1, name="w"), threading.Event()
    first, second, third = workers.submit(free.wait, 5), workers.submit(int), workers.submit(int)
    assert second.cancel()
    workers.shutdown(wait=False, cancel_futures=True)
    free.set()

    assert (first.result(5), second.cancelled(), third.cancelled()) == (True, True, True)
    with pytest.raises(RuntimeError):
        workers.submit(int)


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    program = (
        "import threading; from strictwire.pipeline.threads import DaemonThreads; "
        "DaemonThreads(1, name='w').submit(threading.Event().wait); print('end')"
    )

    assert run([sys.executable, "-c", program]).stdout == b"end\n"
