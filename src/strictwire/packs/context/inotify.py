"""The kernel's queue of file events (Linux), as thinly as it can be had without a dependency. Above: `watch`, `follow`."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from typing import Final

CHANGES: Final = 0x0000_0FCE
"""IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF."""

OVERFLOW: Final = 0x4000
"""Events were lost: anything may have changed."""

GONE: Final = 0x8000 | 0x2000
"""IN_IGNORED and IN_UNMOUNT: the watch itself has ended."""

_ONLY_DIRECTORY: Final = 0x0100_0000
_EVENT: Final = struct.Struct("iIII")


class Inotify:
    """One queue. Raises OSError where the kernel has none to give, AttributeError where the C library has no such call."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = _checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, directory: str | bytes | os.PathLike[str]) -> int:
        """Watch a directory; the number its events will carry. Raises OSError."""
        return _checked(self._libc.inotify_add_watch(self._queue, os.fsencode(directory), CHANGES | _ONLY_DIRECTORY))

    def remove(self, number: int) -> None:
        """End a watch. One whose directory is gone has ended by itself: there is nothing to check."""
        self._libc.inotify_rm_watch(self._queue, number)

    def drain(self) -> Iterator[tuple[int, int]]:
        """The number and mask of each event that waits; never waits itself."""
        while True:
            try:
                events = os.read(self._queue, 1 << 16)
            except BlockingIOError:
                return
            yield from _events(events)

    def wait(self, timeout: float | None) -> bool:
        """Whether an event came within the time."""
        return bool(select.select([self._queue], [], [], timeout)[0])

    def close(self) -> None:
        """Free the queue and every watch in it."""
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1


def _events(raw: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(raw):
        number, mask, _, size = _EVENT.unpack_from(raw, at)
        at += _EVENT.size + size
        yield number, mask


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number
