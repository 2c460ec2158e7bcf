"""One writer for a path at a time, among the threads of this process and among processes of this machine.

Paths share a fixed number of lock files by hash, in the state folder of the pack: two paths may wait for each other
needlessly, and no number of paths makes more files. The system gives a lock back when its holder dies.
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
WAIT_SECONDS: Final = 30.0
"""How long a writer waits for another; verification commands run while the path is held."""

WAITERS: Final = 12
"""Writers that wait at once, each on a thread of the server. With those whose content is judged they leave some of its
threads to other tools."""

_PAUSE: Final = 0.002


class Latches:
    """See the module."""

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
    def hold(self, identity: tuple[int, int], *paths: str) -> Iterator[None]:
        """Hold these paths of one root. Raises Refused: FILE_WRITE_FAILED someone else holds one for too long, or too many
        wait."""
        # In one order everywhere, so that two who want the same two never wait for each other.
        stripes = sorted({_stripe(identity, path) for path in paths})
        with ExitStack() as stack:
            for stripe in stripes:
                stack.callback(os.close, self._take(stripe))
            yield

    def _take(self, stripe: int) -> int:
        handle = os.open(self._folder / f"{stripe:02x}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _is_locked(handle):
                self._wait_for(handle)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _wait_for(self, handle: int) -> None:
        if not self._waiters.acquire(blocking=False):
            raise refuse("FILE_WRITE_FAILED", "Too many writes wait for others; try again", "busy")
        try:
            until = self._clock() + self._wait
            while not _is_locked(handle):
                if self._clock() >= until:
                    raise refuse("FILE_WRITE_FAILED", "Another write of this file takes too long; try again", "busy")
                self._pause(_PAUSE)
        finally:
            self._waiters.release()


def _is_locked(handle: int) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def fold(path: str) -> str:
    """Equal for paths that some file system takes for one: by case, or by how an accent is written."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _stripe(identity: tuple[int, int], path: str) -> int:
    return hashlib.sha256(f"{identity}\n{fold(path)}".encode()).digest()[0] % STRIPES
