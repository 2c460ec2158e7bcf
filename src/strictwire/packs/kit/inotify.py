"""The kernel's queue of file events (Linux), through the C library. `watch` turns its events into changes of paths."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

WRITTEN: Final = 0x0000_000E
"""IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE."""

APPEARED: Final = 0x0000_0180
"""IN_MOVED_TO, IN_CREATE."""

VANISHED: Final = 0x0000_0240
"""IN_MOVED_FROM, IN_DELETE."""

SELF_GONE: Final = 0x0000_0C00
"""IN_DELETE_SELF, IN_MOVE_SELF: the watched folder itself is no longer where it was."""

CHANGES: Final = WRITTEN | APPEARED | VANISHED | SELF_GONE

OVERFLOW: Final = 0x4000
"""Events were lost: anything may have changed."""

ENDED: Final = 0x8000 | 0x2000
"""IN_IGNORED and IN_UNMOUNT: the watch has ended, and its number may be given to another folder."""

IS_FOLDER: Final = 0x4000_0000

_ONLY_DIRECTORY: Final = 0x0100_0000
_HEADER: Final = struct.Struct("iIII")


@dataclass(frozen=True, slots=True)
class Event:
    """One event: the number of the watch, what happened, and the name inside the folder (empty for the folder itself)."""

    number: int
    mask: int
    name: str


class Inotify:
    """One queue. Raises OSError where the kernel has none to give, AttributeError where the C library has no such call."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = _checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, folder: str | bytes | os.PathLike[str]) -> int:
        """Watch a folder; returns the number its events carry. Raises OSError."""
        return _checked(self._libc.inotify_add_watch(self._queue, os.fsencode(folder), CHANGES | _ONLY_DIRECTORY))

    def remove(self, number: int) -> None:
        """End a watch. The call fails if the folder is gone, and then the watch has already ended."""
        self._libc.inotify_rm_watch(self._queue, number)

    def drain(self) -> Iterator[Event]:
        """Every event in the queue; never waits."""
        while True:
            try:
                raw = os.read(self._queue, 1 << 16)
            except BlockingIOError:
                return
            yield from _events(raw)

    def wait(self, seconds: float) -> bool:
        """Wait until an event is in the queue; False if none came in time."""
        return bool(select.select([self._queue], [], [], seconds)[0])

    def fileno(self) -> int:
        """The descriptor, readable while the queue holds an event."""
        return self._queue

    def close(self) -> None:
        """Free the queue and every watch in it."""
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1


def _events(raw: bytes) -> Iterator[Event]:
    at = 0
    while at < len(raw):
        number, mask, _, size = _HEADER.unpack_from(raw, at)
        at += _HEADER.size + size
        yield Event(number, mask, os.fsdecode(raw[at - size : at].rstrip(b"\0")))


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number
