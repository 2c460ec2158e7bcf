"""A disk in memory that can crash: the test twin of `FolderDisk`.

Every file and the table of names remember how to undo what was not synced. `reboot` undoes it, completely or in the ways
real disks do. `power.cut_after` stops the machine at the n-th change; `room` and `refusal` make the disk full, read-only
or broken.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from enum import StrEnum

from strictwire.stores.files.disk import FileInfo


class PowerCut(BaseException):
    """The machine stopped here. Not an Exception: no error handling may continue after it."""


class Survival(StrEnum):
    """What a reboot finds of unsynced changes."""

    NOTHING = "nothing"
    """Every unsynced change is gone."""
    EVERYTHING = "everything"
    """The disk happened to write everything."""
    PART = "part"
    """Of the unsynced writes to a file, only the first half of the last one was written."""
    HOLE = "hole"
    """... only the second half of the last one: zeros, or the old bytes, stand before it."""
    UNCUT = "uncut"
    """Writes were written, but truncations were not."""


class _Inode:
    """The bytes of one file."""

    def __init__(self, number: int) -> None:
        self.ident = (0, number)
        self.data = bytearray()
        self._undo: list[tuple[int, bytes, int]] = []
        """(offset, the bytes that were there, the size) before each change since the last sync."""
        self._cuts: list[tuple[int, bytes]] = []
        """(offset, the bytes that were cut off) of each truncation since the last sync."""
        self._last_write: tuple[int, bytes] | None = None

    def write(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        self._undo.append((offset, bytes(self.data[offset:end]), len(self.data)))
        self._last_write = (offset, data)
        self.data.extend(bytes(max(0, offset - len(self.data))))
        self.data[offset:end] = data

    def truncate(self, size: int) -> None:
        self._undo.append((size, bytes(self.data[size:]), len(self.data)))
        self._cuts.append((size, bytes(self.data[size:])))
        self._last_write = None
        del self.data[size:]

    def sync(self) -> None:
        self._undo.clear()
        self._cuts.clear()
        self._last_write = None

    def reboot(self, survival: Survival) -> None:
        if survival is Survival.UNCUT:
            for offset, cut in reversed(self._cuts):
                self.data.extend(cut[len(self.data) - offset :])
        elif survival is not Survival.EVERYTHING:
            self._undo_all(survival)
        self.sync()

    def _undo_all(self, survival: Survival) -> None:
        last = self._last_write
        while self._undo:
            offset, before, size = self._undo.pop()
            self.data[offset : offset + len(before)] = before
            del self.data[size:]
        if last is not None and survival is not Survival.NOTHING:
            offset, data = last
            half = len(data) // 2
            self.write(*((offset, data[:half]) if survival is Survival.PART else (offset + half, data[half:])))


class _CrashFile:
    def __init__(self, disk: CrashDisk, inode: _Inode) -> None:
        self._disk = disk
        self._inode = inode
        self.ident = inode.ident

    def size(self) -> int:
        return len(self._inode.data)

    def read(self, offset: int, count: int) -> bytes:
        return bytes(self._inode.data[offset : offset + count])

    def write(self, offset: int, data: bytes) -> None:
        room = self._disk.room
        if room is not None and offset + len(data) - len(self._inode.data) > room:
            self._disk.step("write", lambda: self._inode.write(offset, data[:room]), len(data))
            self._disk.room = 0
            raise OSError(errno.ENOSPC, "no space left")
        self._disk.step("write", lambda: self._inode.write(offset, data), len(data))
        if room is not None:
            self._disk.room = room - len(data)

    def truncate(self, size: int) -> None:
        self._disk.step("truncate", lambda: self._inode.truncate(size))

    def sync(self) -> None:
        self._disk.step("sync", self._inode.sync)

    def close(self) -> None:
        """Nothing to release."""


class Power:
    """The power supply of one machine: it fails for all of its disks at once."""

    def __init__(self) -> None:
        self.steps = 0
        """Changes and syncs so far."""
        self.cut_after: int | None = None
        """The power fails at this step; None: never."""


class CrashDisk:
    """One folder in memory."""

    def __init__(self) -> None:
        self.power = Power()
        self._names: dict[str, _Inode] = {}
        self._synced_names: dict[str, _Inode] = {}
        self._count = 0
        self.calls: list[tuple[str, int]] = []
        """(operation, bytes) of each change and sync so far."""
        self.room: int | None = None
        """Bytes that still fit; None: unlimited."""
        self.refusal: int | None = None
        """An errno with which every change fails."""
        self.gone = False
        """Whether the folder was deleted."""

    def open(self, name: str, *, create: bool = False) -> _CrashFile:
        self._check_exists()
        if name not in self._names:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", name)
            self.step("create", lambda: self._names.update({name: self._inode()}))
        return _CrashFile(self, self._names[name])

    def stat(self, name: str) -> FileInfo | None:
        inode = None if self.gone else self._names.get(name)
        return None if inode is None else FileInfo(inode.ident, len(inode.data))

    def names(self) -> list[str]:
        self._check_exists()
        return list(self._names)

    def is_file(self, name: str) -> bool:
        """See Disk."""
        return name in self.names()

    def rename(self, old: str, new: str) -> None:
        self._check_exists()
        self.step("rename", lambda: self._names.update({new: self._names.pop(old)}))

    def remove(self, name: str) -> None:
        self._check_exists()
        self.step("remove", lambda: self._names.pop(name))

    def sync(self) -> None:
        self._check_exists()
        self.step("sync_folder", self._sync_names)

    def step(self, what: str, change: Callable[[], object], size: int = 0) -> None:
        """Make one change, unless the power fails before it or the disk refuses it."""
        if self.power.cut_after is not None and self.power.steps >= self.power.cut_after:
            raise PowerCut
        if self.refusal is not None:
            raise OSError(self.refusal, "refused")
        self.power.steps += 1
        self.calls.append((what, size))
        change()

    def reboot(self, survival: Survival) -> None:
        """Switch the power on again."""
        if survival is Survival.NOTHING:
            self._names = dict(self._synced_names)
        for inode in self._names.values():
            inode.reboot(survival)
        self._sync_names()
        self.power.cut_after = None

    def _inode(self) -> _Inode:
        self._count += 1
        return _Inode(self._count)

    def _sync_names(self) -> None:
        self._synced_names = dict(self._names)

    def _check_exists(self) -> None:
        if self.gone:
            raise FileNotFoundError(errno.ENOENT, "no such folder")
