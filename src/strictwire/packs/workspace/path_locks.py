"""Locks on paths: one writer per path, among the threads of this process and all processes of this machine.

Paths are hashed to a fixed number of lock files in the state folder (lock striping). Two paths may share a lock and wait
for each other needlessly, but the number of files stays bounded. The system releases a lock when its holder dies.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from strictwire.packs.workspace.refusal import refuse

STRIPES: Final = 256
"""Number of lock files."""

WAIT_SECONDS: Final = 30.0
"""Longest wait for another writer. Verification commands run while a path is locked, so waits can be long."""

WAITERS: Final = 12
"""Most writers that wait at once. Each occupies a thread of the server. This limit and that of the policy check together
leave threads for other tools."""

_POLL_SECONDS: Final = 0.002
"""Pause between two attempts. `flock` has no timeout, so a lock is polled."""


class PathLocks:
    """See the module docstring."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        wait: float = WAIT_SECONDS,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._pause = pause
        self._wait = wait
        self._waiters = threading.Semaphore(WAITERS)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def hold(self, root: str, *paths: str) -> Iterator[None]:
        """Lock these paths below a root. A file has the same lock from every root above it.

        Raises Refused: FILE_WRITE_FAILED if a path stays locked for too long, or if too many writers wait.
        """
        # Always in the same order, so that two writers cannot deadlock.
        stripes = sorted({_stripe(f"{root.rstrip('/')}/{path}") for path in paths})
        with ExitStack() as stack:
            for stripe in stripes:
                stack.callback(os.close, self._take(stripe))
            yield

    def _take(self, stripe: int) -> int:
        handle = os.open(self._folder / f"{stripe:02x}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _try_lock(handle):
                self._wait_for(handle)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _wait_for(self, handle: int) -> None:
        if not self._waiters.acquire(blocking=False):
            raise refuse("FILE_WRITE_FAILED", "Too many writes are waiting for locked files; try again", "busy")
        try:
            until = self._clock() + self._wait
            while not _try_lock(handle):
                if self._clock() >= until:
                    raise refuse("FILE_WRITE_FAILED", "Another write to this file takes too long; try again", "busy")
                self._pause(_POLL_SECONDS)
        finally:
            self._waiters.release()


def _try_lock(handle: int) -> bool:
    """Try to take the lock. Returns whether this process has it now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def fold(path: str) -> str:
    """Return equal texts for paths that some file systems treat as one: by case, or by Unicode normalisation."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _stripe(path: str) -> int:
    return hashlib.sha256(fold(path).encode("utf-8", "surrogateescape")).digest()[0] % STRIPES
