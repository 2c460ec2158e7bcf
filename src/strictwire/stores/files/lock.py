"""The lock that lets several processes write one log. Held for one commit, never longer.

It is the kernel's `flock`, so it disappears with the process that held it and never becomes stale. The text in the lock file
names the last owner, for people and for failures; it does not exclude anyone.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final, Protocol

from strictwire.stores.fault import LOCK_FAILED, LogFault
from strictwire.stores.files.disk import FILE_MODE

LOCK_NAME: Final = "audit-log.lock"

_FIRST_PAUSE: Final = 0.0002
"""About the time that another process needs for a commit on a fast disk."""

_LONGEST_PAUSE: Final = 0.02
_OWNER_BYTES: Final = 32


class Lock(Protocol):
    """Excludes other writers."""

    def acquire(self) -> None:
        """Wait for the lock. Raises OSError, and LogFault `lock_held` if another process keeps it too long."""

    def try_acquire(self) -> bool:
        """Take the lock if it is free. Raises OSError."""

    def release(self) -> None:
        """Let other processes write."""

    def close(self) -> None:
        """Close the lock file."""


class NoLock:
    """For a log that no other process can reach."""

    def acquire(self) -> None:
        """Nothing to wait for."""

    def try_acquire(self) -> bool:
        """Always free."""
        return True

    def release(self) -> None:
        """Nothing to release."""

    def close(self) -> None:
        """Nothing to close."""


class FolderLock:
    """The lock of one folder. Each writer has its own; not for several threads at once."""

    def __init__(self, folder: Path, *, patience: float) -> None:
        self._path = f"{folder}{os.sep}{LOCK_NAME}"
        self._patience = patience
        self._owner = f"pid {os.getpid()}\n".ljust(_OWNER_BYTES).encode()
        self._fd = -1
        self._ident = (0, 0)

    def acquire(self) -> None:
        deadline = time.monotonic() + self._patience
        pause = _FIRST_PAUSE
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                raise LogFault("lock_held", code=LOCK_FAILED, owner=self._read_owner())
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def try_acquire(self) -> bool:
        if self._fd < 0:
            self._open()
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.stat(self._path)  # noqa: PTH116 - in every commit; a Path costs more than the call
        except BlockingIOError:
            return False
        except FileNotFoundError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._ident:
            # The folder was deleted or replaced: a lock on the old file excludes no one.
            self.close()
            return False
        # Reading the owner costs less than writing it every time.
        if os.pread(self._fd, _OWNER_BYTES, 0) != self._owner:
            os.pwrite(self._fd, self._owner, 0)
        return True

    def release(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        found = os.fstat(self._fd)
        self._ident = (found.st_dev, found.st_ino)

    def _read_owner(self) -> str:
        return "" if self._fd < 0 else os.pread(self._fd, _OWNER_BYTES, 0).decode("ascii", "replace").strip()
