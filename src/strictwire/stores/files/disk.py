"""The seam to the file system: one folder, flat, and the few things a log has to do in it.

`FolderDisk` is the real one. Its twin, which forgets whatever was not synced, is `stores.files.crash_disk`. Errors are the
operating system's own (OSError); the log maps them in one table (`stores.fault`).
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final, Protocol

import msgspec

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
"""The trail says who did what: its owner alone may look."""


class Look(msgspec.Struct, frozen=True):
    """Which file stands under a name, and how long it is."""

    ident: tuple[int, int]
    size: int


class OpenFile(Protocol):
    """One file, read and written at places."""

    ident: tuple[int, int]

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer at the end."""

    def write(self, offset: int, data: bytes) -> None:
        """All of the bytes, or an OSError after some of them."""

    def truncate(self, size: int) -> None:
        """Cut to a size."""

    def sync(self) -> None:
        """Return when what was written survives a power cut."""

    def write_through(self, offset: int, data: bytes) -> None:
        """Write whole sectors and return when they survive a power cut; what was written before may not.

        All of the bytes, or an OSError after some of them.
        """

    def is_named(self) -> bool:
        """Whether the file still has a name: one that was deleted goes with whoever has it open."""

    def hold(self) -> bool:
        """Keep others from holding it until it is closed; False if another process does."""

    def close(self) -> None:
        """Give the file back."""


class Disk(Protocol):
    """One folder."""

    def open(self, name: str, *, create: bool = False) -> OpenFile:
        """Open for reading and writing. FileNotFoundError unless `create`."""

    def look(self, name: str) -> Look | None:
        """What stands under a name, or None; `.` is the folder itself."""

    def names(self) -> list[str]:
        """Every name in the folder."""

    def rename(self, old: str, new: str) -> None:
        """Move over whatever stands under the new name."""

    def remove(self, name: str) -> None:
        """Delete."""

    def sync(self) -> None:
        """Return when the names survive a power cut."""


class _FolderFile:
    """A file descriptor."""

    __slots__ = ("_fd", "ident")

    def __init__(self, fd: int) -> None:
        self._fd = fd
        found = os.fstat(fd)
        self.ident = (found.st_dev, found.st_ino)

    def read(self, offset: int, count: int) -> bytes:
        return os.pread(self._fd, count, offset)

    def write(self, offset: int, data: bytes) -> None:
        written = os.pwrite(self._fd, data, offset)
        while written < len(data):
            written += os.pwrite(self._fd, data[written:], offset + written)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def sync(self) -> None:
        os.fdatasync(self._fd)

    def write_through(self, offset: int, data: bytes) -> None:
        self.write(offset, data)
        self.sync()

    def is_named(self) -> bool:
        return os.fstat(self._fd).st_nlink > 0

    def hold(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self._fd)


class FolderDisk:
    """A folder of the real file system. It is not made here: see `make_folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = f"{folder}{os.sep}"

    def open(self, name: str, *, create: bool = False) -> OpenFile:
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        return _FolderFile(os.open(self._base + name, flags, FILE_MODE))

    def look(self, name: str) -> Look | None:
        try:
            found = os.stat(self._base + name)  # noqa: PTH116 - in every commit; a Path costs more than the call
        except FileNotFoundError:
            return None
        return Look((found.st_dev, found.st_ino), found.st_size)

    def names(self) -> list[str]:
        return [path.name for path in self._folder.iterdir()]

    def rename(self, old: str, new: str) -> None:
        (self._folder / old).rename(self._folder / new)

    def remove(self, name: str) -> None:
        (self._folder / name).unlink()

    def sync(self) -> None:
        fd = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


class ReadingDisk(FolderDisk):
    """The same folder for those who only read: works on a read-only copy and can change nothing."""

    def open(self, name: str, *, create: bool = False) -> OpenFile:
        if create:
            raise PermissionError(f"{name}: opened for reading")
        return _FolderFile(os.open(self._base + name, os.O_RDONLY | os.O_CLOEXEC))


def make_folder(folder: Path) -> None:
    """Make the folder, and those above it, for the owner alone. One that is there is left as it is."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def write_whole(disk: Disk, name: str, data: bytes) -> None:
    """Put a whole file under a name, so that a reader sees the old one or the new one and nothing between."""
    draft = f"{name}.new"
    file = disk.open(draft, create=True)
    try:
        file.truncate(0)
        file.write(0, data)
        file.sync()
    finally:
        file.close()
    disk.rename(draft, name)
    disk.sync()
