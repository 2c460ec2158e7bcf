"""The lock between processes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.lock import LOCK_NAME, FolderLock
from tests.stores.trails import body, call_ids, records_of, trail_in

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


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path):
    trail = trail_in(tmp_path, lock_seconds=0.0)
    log = open_writer(trail)
    log.append([body("a")])
    holder = _hold(trail.folder / LOCK_NAME)
    with pytest.raises(LogFault):
        log.append([body("lost")])
    holder.kill()
    holder.communicate()
    log.append([body("b")])
    log.close()

    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]


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
