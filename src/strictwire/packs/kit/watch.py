"""Noticing changes below folders: the one file watch of every pack.

`Watch` reports what changed in each added folder since the last drain. Kernel events (inotify) are queued by the write
itself, so a drain sees every change that was made before it: 2 microseconds if there is none. A library with a thread and
a debounce interval cannot promise that: `watchfiles` 1.3 needs at least 1.1 ms a check and missed 1 write in 50.
Where the kernel has no queue, or no watch left for a folder, its entries are compared instead.

Folders are added one by one, because what to enter differs between packs. Two things stay unseen: writes through a
memory map, and writes that another machine makes on a network file system.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from strictwire.packs.kit.inotify import APPEARED, ENDED, IS_FOLDER, OVERFLOW, SELF_GONE, VANISHED, Event, Inotify

Row: TypeAlias = tuple[int, int, int, int, int]
"""Mode, inode, size and both times of one file."""


class ChangeKind(Enum):
    """What happened to a name."""

    WRITTEN = auto()
    """Its content or its attributes changed."""
    APPEARED = auto()
    """Created or moved here. A folder that appears may already have content: add it, then list it."""
    VANISHED = auto()
    """Deleted or moved away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change in an added folder."""

    folder: Path
    name: str
    """Empty for the folder itself."""
    kind: ChangeKind
    is_folder: bool

    @property
    def path(self) -> Path:
        """What changed."""
        return self.folder / self.name if self.name else self.folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The changes since the last drain, in order."""

    changes: tuple[Change, ...]
    overflow: bool = False
    """Changes were lost: everything must be looked at again."""


class Watch:
    """See the module. Threads may call anything here. `kernel=False` compares entries always."""

    def __init__(self, *, kernel: bool = True) -> None:
        self._queue = _open_queue() if kernel else None
        self._numbers: dict[Path, int] = {}
        self._folders: dict[int, Path] = {}
        self._compared: dict[Path, dict[str, Row]] = {}
        self._pending: list[Change] = []
        self._lock = Lock()

    def add(self, folder: Path) -> None:
        """Watch a folder, not its subfolders, from its present state. Adding it again is harmless. Raises OSError."""
        with self._lock:
            if self._queue is None or not self._add_to_queue(self._queue, folder):
                self._compared[folder] = _entries(folder)

    def remove(self, folder: Path) -> None:
        """Forget a folder and everything below it."""
        with self._lock:
            for known in [each for each in self._numbers if each.is_relative_to(folder)]:
                number = self._numbers.pop(known)
                if self._folders.pop(number, None) is not None and self._queue is not None:
                    self._queue.remove(number)
            for known in [each for each in self._compared if each.is_relative_to(folder)]:
                del self._compared[known]

    def drain(self) -> Drained:
        """Every change since the last drain; never waits."""
        with self._lock:
            changes, self._pending = self._pending, []
            overflow = False
            for event in self._queue.drain() if self._queue is not None else ():
                overflow |= bool(event.mask & OVERFLOW)
                changes.extend(self._changes_of(event))
            changes.extend(self._compare())
            return Drained(changes=tuple(changes), overflow=overflow)

    def wait(self, seconds: float, pause: Callable[[float], object] = time.sleep) -> bool:
        """Wait for a change, at most so long; True if the next drain returns one."""
        if self._queue is not None and not self._compared:
            return self._queue.wait(seconds)
        pause(seconds)
        with self._lock:
            self._pending.extend(self._compare())
            return bool(self._pending) or (self._queue is not None and self._queue.wait(0))

    def fileno(self) -> int | None:
        """A descriptor that is readable while events are queued; None without a queue. Compared folders do not set it."""
        return None if self._queue is None else self._queue.fileno()

    def close(self) -> None:
        """Forget everything and free the queue."""
        with self._lock:
            self._numbers.clear()
            self._folders.clear()
            self._compared.clear()
            if self._queue is not None:
                self._queue.close()
                self._queue = None

    def _add_to_queue(self, queue: Inotify, folder: Path) -> bool:
        """False if the kernel has no watch left. Raises OSError: there is no such folder, or it cannot be read."""
        try:
            number = queue.add(folder)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            raise
        except OSError:
            return False
        # The same folder under a new name keeps its number: the old name must not answer for it any more.
        before = self._folders.get(number)
        if before is not None and before != folder:
            self._numbers.pop(before, None)
        self._folders[number] = folder
        self._numbers[folder] = number
        return True

    def _changes_of(self, event: Event) -> Iterator[Change]:
        folder = self._folders.get(event.number)
        if folder is None:
            return
        if event.mask & ENDED:
            del self._folders[event.number]
            self._numbers.pop(folder, None)
        if event.mask & SELF_GONE:
            yield Change(folder=folder, name="", kind=ChangeKind.VANISHED, is_folder=True)
        elif event.name:
            is_folder = bool(event.mask & IS_FOLDER)
            yield Change(folder=folder, name=event.name, kind=_kind(event.mask), is_folder=is_folder)

    def _compare(self) -> Iterator[Change]:
        for folder, before in list(self._compared.items()):
            try:
                now = _entries(folder)
            except OSError:
                del self._compared[folder]
                yield Change(folder=folder, name="", kind=ChangeKind.VANISHED, is_folder=True)
                continue
            self._compared[folder] = now
            yield from _differences(folder, before, now)


def identity(path: Path) -> tuple[int, int]:
    """What stays the same while a folder is not replaced by another of its name. Raises OSError.

    A rename further up replaces a folder without an event in it: compare identities where that matters.
    """
    status = path.stat()
    return status.st_dev, status.st_ino


def _open_queue() -> Inotify | None:
    try:
        return Inotify()
    except (OSError, AttributeError):
        return None  # another system, or no queue left for this user


def _kind(mask: int) -> ChangeKind:
    if mask & APPEARED:
        return ChangeKind.APPEARED
    return ChangeKind.VANISHED if mask & VANISHED else ChangeKind.WRITTEN


def _entries(folder: Path) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                rows[entry.name] = _row(entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue  # deleted since it was listed
    return rows


def _row(status: os.stat_result) -> Row:
    if stat.S_ISDIR(status.st_mode):
        # Times and size of a folder change with its entries, which it reports itself once it is added.
        return (status.st_mode, status.st_ino, 0, 0, 0)
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _differences(folder: Path, before: dict[str, Row], now: dict[str, Row]) -> Iterator[Change]:
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        was_folder, is_folder = _is_folder(old), _is_folder(new)
        if old and new and not (was_folder or is_folder):
            yield Change(folder=folder, name=name, kind=ChangeKind.WRITTEN, is_folder=False)
            continue
        if old:
            yield Change(folder=folder, name=name, kind=ChangeKind.VANISHED, is_folder=was_folder)
        if new:
            yield Change(folder=folder, name=name, kind=ChangeKind.APPEARED, is_folder=is_folder)


def _is_folder(row: Row | None) -> bool:
    return row is not None and stat.S_ISDIR(row[0])
