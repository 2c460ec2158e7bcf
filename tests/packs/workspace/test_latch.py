"""One writer for a path at a time; who waits is bounded in time and number."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from strictwire.fault.failure import Failure, Refused
from strictwire.packs.workspace.latch import WAITERS, Latches

ROOT = (1, 2)


def refusal(latches: Latches, *paths: str) -> Failure:
    with pytest.raises(Refused) as caught, latches.hold(ROOT, *paths):
        pass
    return caught.value.failure


def test_a_path_is_held_by_one_and_others_wait_for_a_time(tmp_path: Path) -> None:
    seconds = iter(range(100))
    latches = Latches(tmp_path, clock=lambda: next(seconds), pause=lambda _: None, wait=3)

    with latches.hold(ROOT, "a", "b"):
        failure = refusal(latches, "b")
    with latches.hold(ROOT, "b"):
        pass

    assert (failure.code, failure.details["reason"]) == ("FILE_WRITE_FAILED", "busy")


def test_more_than_a_few_do_not_wait_but_are_told_at_once(tmp_path: Path) -> None:
    """So that writes of one path cannot take all threads of a server."""
    all_wait, go_on = threading.Barrier(WAITERS + 1), threading.Event()

    def pause(_seconds: float) -> None:
        if not go_on.is_set():
            all_wait.wait(30)
            go_on.wait(30)

    latches = Latches(tmp_path, pause=pause)

    def write() -> str:
        with latches.hold(ROOT, "a"):
            return "wrote"

    with ThreadPoolExecutor(WAITERS) as threads:
        with latches.hold(ROOT, "a"):
            waiting = [threads.submit(write) for _ in range(WAITERS)]
            all_wait.wait(30)
            failure = refusal(latches, "a")
        go_on.set()
        written = [each.result(30) for each in waiting]

    assert (failure.code, failure.details["reason"]) == ("FILE_WRITE_FAILED", "busy")
    assert written == ["wrote"] * WAITERS
