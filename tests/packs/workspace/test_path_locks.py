"""One writer per path at a time; waiting writers are limited in time and number."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from strictwire.fault.failure import Failure, Refused
from strictwire.packs.workspace.path_locks import WAITERS, PathLocks

ROOT = "/srv/a"


def refusal(path_locks: PathLocks, *paths: str) -> Failure:
    with pytest.raises(Refused) as caught, path_locks.hold(ROOT, *paths):
        pass
    return caught.value.failure


def test_a_path_has_one_holder_and_others_wait_for_a_limited_time(tmp_path: Path) -> None:
    seconds = iter(range(100))
    path_locks = PathLocks(tmp_path, clock=lambda: next(seconds), pause=lambda _: None, wait=3)

    with path_locks.hold(ROOT, "a", "b"):
        failure = refusal(path_locks, "b")
    with path_locks.hold(ROOT, "b"):
        pass

    assert (failure.code, failure.details["reason"]) == ("FILE_WRITE_FAILED", "busy")


def test_a_file_has_the_same_lock_from_every_root(tmp_path: Path) -> None:
    seconds = iter(range(100))
    path_locks = PathLocks(tmp_path, clock=lambda: next(seconds), pause=lambda _: None, wait=3)

    for root, path in ((ROOT, "src/x"), ("/srv", "a/src/x"), (f"{ROOT}/src", "X"), ("/", "srv/a/src/x")):
        with path_locks.hold(root, path):
            assert refusal(path_locks, "src/x").details["reason"] == "busy"


def test_more_than_the_limit_do_not_wait_and_are_refused_at_once(tmp_path: Path) -> None:
    """Writes to one path must not occupy all threads of a server."""
    all_wait, go_on = threading.Barrier(WAITERS + 1), threading.Event()

    def pause(_seconds: float) -> None:
        if not go_on.is_set():
            all_wait.wait(30)
            go_on.wait(30)

    path_locks = PathLocks(tmp_path, pause=pause)

    def write() -> str:
        with path_locks.hold(ROOT, "a"):
            return "wrote"

    with ThreadPoolExecutor(WAITERS) as threads:
        with path_locks.hold(ROOT, "a"):
            waiting = [threads.submit(write) for _ in range(WAITERS)]
            all_wait.wait(30)
            failure = refusal(path_locks, "a")
        go_on.set()
        written = [each.result(30) for each in waiting]

    assert (failure.code, failure.details["reason"]) == ("FILE_WRITE_FAILED", "busy")
    assert written == ["wrote"] * WAITERS
