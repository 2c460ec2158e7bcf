"""The lock that lets several processes write one log: held for one commit, never longer.

It is the kernel's (`flock`), so it goes with the process that held it, however that process ended; nothing is ever stale.
The lock file names its last owner for people and for the failure, and is not what excludes others.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final, Protocol

from strictwire.stores.fault import LOCK_FAILED, LogFault, fault_of, mapped_errors
from strictwire.stores.files.disk import FILE_MODE

LOCK_NAME: Final = "audit-log.lock"
_FIRST_PAUSE: Final = 0.0002
_LONGEST_PAUSE: Final = 0.02
_OWNER_BYTES: Final = 32


class Lock(Protocol):
    """Excludes other writers."""

    def acquire(self) -> None:
        """Wait for the lock. LogFault `lock_held` when another keeps it too long."""

    def try_acquire(self) -> bool:
        """Take the lock if it is free; do not wait."""

    def release(self) -> None:
        """Let others in."""

    def close(self) -> None:
        """Give the lock file back."""


class NoLock:
    """For a log that nobody else can reach."""

    def acquire(self) -> None:
        """There is nobody to wait for."""

    def try_acquire(self) -> bool:
        """It is always free."""
        return True

    def release(self) -> None:
        """There is nobody to let in."""

    def close(self) -> None:
        """Nothing is held."""


class FolderLock:
    """The lock of one folder. Not for several threads at once: each writer has its own."""

    def __init__(self, folder: Path, *, patience: float) -> None:
        self._path = f"{folder}{os.sep}{LOCK_NAME}"
        self._patience = patience
        self._owner = f"pid {os.getpid()}\n".ljust(_OWNER_BYTES).encode()
        self._fd = -1
        self._held = (0, 0)
        """Which file the descriptor is."""

    def acquire(self) -> None:
        with mapped_errors():
            self._wait()
            self._sign()

    def try_acquire(self) -> bool:
        try:
            if not self._try():
                return False
            self._sign()
        except OSError as exc:
            raise fault_of(exc) from exc
        return True

    def release(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _sign(self) -> None:
        """Leave our name, unless it is there from last time: looking costs less than writing."""
        if os.pread(self._fd, _OWNER_BYTES, 0) != self._owner:
            os.pwrite(self._fd, self._owner, 0)

    def _wait(self) -> None:
        deadline = time.monotonic() + self._patience
        pause = _FIRST_PAUSE
        while not self._try():
            if time.monotonic() >= deadline:
                raise LogFault("lock_held", code=LOCK_FAILED, owner=self._read_owner())
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _try(self) -> bool:
        if self._fd < 0:
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
            held = os.fstat(self._fd)
            self._held = (held.st_dev, held.st_ino)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if self._is_current():
            return True
        # The folder was deleted or replaced: a lock on the old file excludes nobody.
        self.close()
        return False

    def _is_current(self) -> bool:
        try:
            found = os.stat(self._path)  # noqa: PTH116 - in every commit; a Path costs more than the call
        except FileNotFoundError:
            return False
        return self._held == (found.st_dev, found.st_ino)

    def _read_owner(self) -> str:
        return os.pread(self._fd, _OWNER_BYTES, 0).decode("ascii", "replace").strip()
