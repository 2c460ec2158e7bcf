"""Noticing that a directory tree of a cache changed, at the price of one system call an answer.

A Watch is told which directory is loaded and is asked before each answer whether it still is the same:
`InotifyWatch` drains a kernel queue (Linux), `StatWatch` compares the status of every file (anywhere).
What neither can see is listed in docs/CONTEXT.md.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from strictwire.packs.context.layout import DOCUMENTS, INDEX, MANIFEST

Signature: TypeAlias = tuple[tuple[str, int, int, int, int, int], ...]

_MASK: Final = 0x0000_0FCE
"""IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF."""

_ONLY_DIRECTORY: Final = 0x0100_0000
_QUEUE_OVERFLOW: Final = 0x4000
_GONE: Final = 0x8000 | 0x2000
"""IN_IGNORED and IN_UNMOUNT: the watch itself has ended."""

_EVENT: Final = struct.Struct("iIII")


class Watch(Protocol):
    """Tells whether a directory changed since `begin`."""

    def begin(self, path: Path) -> None:
        """Start, or start again, from the present state. Raises OSError where the path cannot be watched."""

    def has_changed(self, path: Path) -> bool:
        """Whether anything changed since. True also where that is not known, or nothing was begun."""

    def end(self, path: Path) -> None:
        """Forget the path."""

    def close(self) -> None:
        """Forget everything and free what is held."""


class StatWatch:
    """Compares name, kind, inode, size, and both change times of every file: one status call a document."""

    def __init__(self) -> None:
        self._known: dict[Path, Signature] = {}

    def begin(self, path: Path) -> None:
        """See Watch."""
        self._known[path] = signature(path)

    def has_changed(self, path: Path) -> bool:
        """See Watch."""
        known = self._known.get(path)
        try:
            return known is None or known != signature(path)
        except OSError:
            return True

    def end(self, path: Path) -> None:
        """See Watch."""
        self._known.pop(path, None)

    def close(self) -> None:
        """See Watch."""
        self._known.clear()


class InotifyWatch:
    """A kernel queue over the cache and its documents directory. Raises OSError where the kernel has none to give."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = _checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._paths: dict[int, Path] = {}
        self._changed: set[Path] = set()
        self._identity: dict[Path, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def begin(self, path: Path) -> None:
        """See Watch. The watch stands before the first file is read, so a change during a load is not missed."""
        with self._lock:
            self._drain()
            self._forget(path)
            for directory in (path, path / DOCUMENTS):
                if directory is path or directory.is_dir():
                    self._paths[self._add(directory)] = path
            self._identity[path] = _identity(path)
            self._changed.discard(path)

    def has_changed(self, path: Path) -> bool:
        """See Watch. The directory's identity shows a replacement by a rename further up, which the queue does not."""
        with self._lock:
            self._drain()
            try:
                return path in self._changed or self._identity.get(path) != _identity(path)
            except OSError:
                return True

    def end(self, path: Path) -> None:
        """See Watch."""
        with self._lock:
            self._forget(path)

    def close(self) -> None:
        """See Watch."""
        with self._lock:
            self._paths.clear()
            self._identity.clear()
            if self._queue >= 0:
                os.close(self._queue)
                self._queue = -1

    def _add(self, directory: Path) -> int:
        return _checked(self._libc.inotify_add_watch(self._queue, os.fsencode(directory), _MASK | _ONLY_DIRECTORY))

    def _forget(self, path: Path) -> None:
        for number in [number for number, watched in self._paths.items() if watched == path]:
            # A watch whose directory is gone has ended by itself: there is nothing to check.
            self._libc.inotify_rm_watch(self._queue, number)
            del self._paths[number]
        self._identity.pop(path, None)

    def _drain(self) -> None:
        while True:
            try:
                events = os.read(self._queue, 1 << 16)
            except BlockingIOError:
                return
            self._note(events)

    def _note(self, events: bytes) -> None:
        at = 0
        while at < len(events):
            number, mask, _, size = _EVENT.unpack_from(events, at)
            at += _EVENT.size + size
            if mask & _QUEUE_OVERFLOW:
                self._changed.update(self._identity)
            elif number in self._paths:
                self._changed.add(self._paths[number])
            if mask & _GONE:
                self._paths.pop(number, None)


def open_watch() -> Watch:
    """The best watch this machine has."""
    if sys.platform == "linux":
        try:
            return InotifyWatch()
        except (OSError, AttributeError):
            # No instance left for this user, or a libc without inotify: comparing is slower and as true.
            return StatWatch()
    return StatWatch()


def signature(path: Path) -> Signature:
    """The status of every file of a cache. Raises OSError."""
    rows = [_row(name, os.stat(path / name, follow_symlinks=False)) for name in ("", MANIFEST, INDEX, DOCUMENTS) if _is(path / name)]
    if (path / DOCUMENTS).is_dir():
        with os.scandir(path / DOCUMENTS) as entries:
            rows.extend(sorted(_row(entry.name, entry.stat(follow_symlinks=False)) for entry in entries))
    return tuple(rows)


def _is(path: Path) -> bool:
    return os.path.lexists(path)


def _row(name: str, status: os.stat_result) -> tuple[str, int, int, int, int, int]:
    return (name, status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number
