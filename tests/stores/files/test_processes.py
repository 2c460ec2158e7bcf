"""Real processes on a real folder: several at once, and killed at random moments."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.lock import LOCK_NAME, FolderLock
from strictwire.stores.files.verify import verify_trail
from tests.stores.trails import body, call_ids, records_of, trail_in

WRITER = Path(__file__).parent.parent / "writer.py"
SEED = 20260115
KILLS = 50


def _start(root: Path, label: str, count: int, mode: str = "sync") -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(root), label, str(count), mode]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "opened\n"
    return process


def _kill_after(process: subprocess.Popen[str], answers: int) -> list[str]:
    """Read so many answers, kill, and read what it had still said."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(answers)]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.stdout.close()
    process.wait(10)
    return [line.rstrip("\n") for line in said if line.endswith("\n")]


def _assert_whole(root: Path, answered: list[str]) -> None:
    trail = trail_in(root)
    verdict = verify_trail(trail.folder, read_public_key(trail.key_path), anchor=trail.anchor_path)
    kept = set(call_ids(records_of(FolderDisk(trail.folder))))

    assert verdict.finding is None, verdict.finding
    assert set(answered) <= kept


@pytest.mark.slow
@pytest.mark.clause("S7")
@pytest.mark.parametrize("mode", ["sync", "batched"])
def test_killed_at_random_moments_no_answered_call_is_missing_and_the_log_verifies_every_time(tmp_path: Path, mode: str):
    dice = random.Random(SEED)
    print("seed", SEED)
    answered: list[str] = []
    for number in range(KILLS // 2):
        process = _start(tmp_path, f"run{number}", 100_000, mode)
        answered += _kill_after(process, dice.randrange(0, 200))

        _assert_whole(tmp_path, answered)


@pytest.mark.slow
def test_two_processes_write_one_log_at_the_same_time(tmp_path: Path):
    processes = [_start(tmp_path, label, 300) for label in ("one", "two")]
    # Without a time limit: with one, what was read ahead with the first line is passed over.
    said = [line for process in processes for line in process.communicate()[0].splitlines()]
    _assert_whole(tmp_path, said)

    assert sorted(said) == sorted(f"{label}-{number}" for label in ("one", "two") for number in range(300))
    assert [process.returncode for process in processes] == [0, 0]


HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
os.pwrite(fd, f"pid {os.getpid()}".encode().ljust(32), 0)
print("held", flush=True)
sys.stdin.read()
"""


def _hold(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_lock_of_a_process_that_was_killed_is_free_within_a_second(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    log.append([body("a")])
    holder = _hold(trail.folder / LOCK_NAME)
    holder.kill()
    started = time.monotonic()
    log.append([body("b")])

    assert time.monotonic() - started < 1.0
    holder.communicate()
    log.close()


def test_a_lock_that_is_held_too_long_is_told_with_its_owner(tmp_path: Path):
    trail = trail_in(tmp_path, lock_seconds=0.05)
    log = open_writer(trail)
    log.append([body("a")])
    holder = _hold(trail.folder / LOCK_NAME)
    with pytest.raises(LogFault) as refused:
        log.append([body("lost")])
    holder.communicate("")
    log.append([body("b")])
    log.close()
    failure = refused.value.as_failure()

    assert (failure.code, dict(failure.details)) == ("AUDIT_LOCK_FAILED", {"reason": "lock_held"})
    assert refused.value.owner == f"pid {holder.pid}"
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]


def test_a_lock_whose_file_was_deleted_is_taken_anew(tmp_path: Path):
    """A lock on a file that nobody else can find excludes nobody."""
    lock = FolderLock(tmp_path, patience=1.0)
    lock.acquire()
    lock.release()
    (tmp_path / LOCK_NAME).unlink()
    lock.acquire()
    fd = os.open(tmp_path / LOCK_NAME, os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lock.release()
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)
    lock.close()
