"""Noticing that a directory tree of a cache changed, at the price of one system call an answer.

A Watch is told which directory is loaded and is asked before each answer whether it still is the same:
`InotifyWatch` drains a kernel queue (Linux), `StatWatch` compares the status of every file (anywhere).
What neither can see is listed in docs/CONTEXT.md.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Protocol, TypeAlias

from strictwire.packs.context.inotify import GONE, OVERFLOW, Inotify
from strictwire.packs.context.layout import DOCUMENTS, INDEX, MANIFEST

Row: TypeAlias = tuple[str, int, int, int, int, int]
"""Name, mode, inode, size and both times of one file."""

Signature: TypeAlias = tuple[Row, ...]


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
        self._queue = Inotify()
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
                    self._paths[self._queue.add(directory)] = path
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
            self._queue.close()

    def _forget(self, path: Path) -> None:
        for number in [number for number, watched in self._paths.items() if watched == path]:
            self._queue.remove(number)
            del self._paths[number]
        self._identity.pop(path, None)

    def _drain(self) -> None:
        for number, mask in self._queue.drain():
            if mask & OVERFLOW:
                self._changed.update(self._identity)
            elif number in self._paths:
                self._changed.add(self._paths[number])
            if mask & GONE:
                self._paths.pop(number, None)


def open_watch() -> Watch:
    """The best watch this machine has."""
    try:
        return InotifyWatch()
    except (OSError, AttributeError):
        # Another system, or no queue left for this user: comparing is slower and as true.
        return StatWatch()


def signature(path: Path) -> Signature:
    """The status of every file of a cache. Raises OSError."""
    names = [name for name in ("", MANIFEST, INDEX, DOCUMENTS) if os.path.lexists(path / name)]
    rows = [_row(name, (path / name).lstat()) for name in names]
    if (path / DOCUMENTS).is_dir():
        with os.scandir(path / DOCUMENTS) as entries:
            rows.extend(sorted(_row(entry.name, entry.stat(follow_symlinks=False)) for entry in entries))
    return tuple(rows)


def _row(name: str, status: os.stat_result) -> Row:
    return (name, status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
