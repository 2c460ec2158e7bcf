"""A disk in memory that forgets: the twin of `FolderDisk` that a crash can be tried on at every step.

Each file and the table of names remember how to undo what was not synced. `reboot` undoes it, wholly or in the ways real
disks do. The `cord` lets the power fail at the n-th change; `room` and `refusal` make the disk full, read-only or broken.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from enum import StrEnum

from strictwire.stores.files.disk import Look


class PowerCut(BaseException):
    """The machine stopped here. Not an Exception: nothing that handles errors may go on after it."""


class Survival(StrEnum):
    """What an unsynced change is after the power comes back."""

    NOTHING = "nothing"
    """Everything not synced is gone."""
    EVERYTHING = "everything"
    """The disk happened to write it all."""
    PART = "part"
    """The last unsynced write of each file came half way."""
    HOLE = "hole"
    """The file grew, but the first half of its last unsynced write was never written: zeros."""


class _Inode:
    """The bytes of one file."""

    def __init__(self, number: int) -> None:
        self.ident = (0, number)
        self.data = bytearray()
        self.undo: list[tuple[int, bytes, int]] = []
        """(offset, what stood there, size) before each change since the last sync."""

    def change(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        self.undo.append((offset, bytes(self.data[offset:end]), len(self.data)))
        if len(self.data) < offset:
            self.data.extend(bytes(offset - len(self.data)))
        self.data[offset:end] = data

    def cut(self, size: int) -> None:
        self.undo.append((size, bytes(self.data[size:]), len(self.data)))
        del self.data[size:]

    def settle(self, survival: Survival) -> None:
        if survival is Survival.EVERYTHING or not self.undo:
            self.undo.clear()
            return
        last = (self.undo[-1], bytes(self.data))
        while self.undo:
            offset, stood, size = self.undo.pop()
            self.data[offset : offset + len(stood)] = stood
            del self.data[size:]
        if survival is not Survival.NOTHING:
            self._half_survives(survival, *last)
        self.undo.clear()

    def _half_survives(self, survival: Survival, change: tuple[int, bytes, int], after: bytes) -> None:
        offset, stood, size = change
        if len(after) == size and stood:  # written over: the other half is what stood there
            middle, end = offset + len(stood) // 2, offset + len(stood)
            halves = slice(offset, middle) if survival is Survival.PART else slice(middle, end)
            self.data[halves] = after[halves]
            return
        if len(after) <= size or len(self.data) < offset:
            return
        middle = offset + (len(after) - offset) // 2
        self.data[offset:] = after[offset:middle] if survival is Survival.PART else bytes(middle - offset) + after[middle:]


class _CrashFile:
    def __init__(self, disk: CrashDisk, inode: _Inode) -> None:
        self._disk = disk
        self._inode = inode
        self.ident = inode.ident

    def read(self, offset: int, count: int) -> bytes:
        return bytes(self._inode.data[offset : offset + count])

    def write(self, offset: int, data: bytes) -> None:
        room = self._disk.room
        if room is not None and offset + len(data) - len(self._inode.data) > room:
            self._disk.step("write", lambda: self._inode.change(offset, data[:room]), len(data))
            self._disk.room = 0
            raise OSError(errno.ENOSPC, "no space left")
        self._disk.step("write", lambda: self._inode.change(offset, data), len(data))
        if room is not None:
            self._disk.room = room - len(data)

    def truncate(self, size: int) -> None:
        self._disk.step("truncate", lambda: self._inode.cut(size))

    def sync(self) -> None:
        self._disk.step("sync", self._inode.undo.clear)

    def write_through(self, offset: int, data: bytes) -> None:
        self.write(offset, data)
        self._disk.step("sync", self._inode.undo.pop)  # what was written before goes on waiting for a sync of the file

    def is_named(self) -> bool:
        return self._disk.has(self._inode)

    def hold(self) -> bool:
        return True

    def close(self) -> None:
        """Nothing is held."""


class PowerCord:
    """What several disks of one machine hang on: the power fails for all of them at once."""

    def __init__(self) -> None:
        self.steps = 0
        """Changes and syncs so far."""
        self.cut_after: int | None = None
        """The power fails at this step; None: never."""


class CrashDisk:
    """One folder in memory."""

    def __init__(self) -> None:
        self.cord = PowerCord()
        self._names: dict[str, _Inode] = {}
        self._synced_names: dict[str, _Inode] = {}
        self._count = 0
        self.calls: list[tuple[str, int]] = []
        """(what, bytes) of each change and sync so far."""
        self.room: int | None = None
        """Bytes that still fit; None: no end."""
        self.refusal: int | None = None
        """An errno that every change is refused with."""
        self.gone = False
        """Whether the folder was deleted."""

    def open(self, name: str, *, create: bool = False) -> _CrashFile:
        self._find_gone()
        if name not in self._names:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", name)
            self.step("create", lambda: self._names.update({name: self._inode()}))
        return _CrashFile(self, self._names[name])

    def look(self, name: str) -> Look | None:
        if name == "." or self.gone:
            return None if self.gone else Look((0, 0), 0)
        inode = self._names.get(name)
        return None if inode is None else Look(inode.ident, len(inode.data))

    def has(self, inode: _Inode) -> bool:
        """Whether a file has a name here."""
        return any(each is inode for each in self._names.values())

    def names(self) -> list[str]:
        self._find_gone()
        return list(self._names)

    def rename(self, old: str, new: str) -> None:
        self._find_gone()
        self.step("rename", lambda: self._names.update({new: self._names.pop(old)}))

    def remove(self, name: str) -> None:
        self._find_gone()
        self.step("remove", lambda: self._names.pop(name))

    def sync(self) -> None:
        self._find_gone()
        self.step("sync_folder", self._settle_names)

    def step(self, what: str, change: Callable[[], object], size: int = 0) -> None:
        """Do one change, unless the power fails before it or the disk refuses."""
        if self.cord.cut_after is not None and self.cord.steps >= self.cord.cut_after:
            raise PowerCut
        if self.refusal is not None:
            raise OSError(self.refusal, "refused")
        self.cord.steps += 1
        self.calls.append((what, size))
        change()

    def reboot(self, survival: Survival) -> None:
        """The power is back: what was not synced is as `survival` says."""
        if survival is Survival.NOTHING:
            self._names = dict(self._synced_names)
        for inode in self._names.values():
            inode.settle(survival)
        self._settle_names()
        self.cord.cut_after = None

    def _inode(self) -> _Inode:
        self._count += 1
        return _Inode(self._count)

    def _settle_names(self) -> None:
        self._synced_names = dict(self._names)

    def _find_gone(self) -> None:
        if self.gone:
            raise FileNotFoundError(errno.ENOENT, "no such folder")
