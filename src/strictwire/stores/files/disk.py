"""The seam to the file system: one flat folder and the operations a log needs.

`FolderDisk` is the real one. Its test twin, which can forget unsynced writes, is `stores.files.crash_disk`. Errors are
OSError; callers map them with `stores.fault.mapped_errors`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from pathlib import Path
from typing import Final, NamedTuple, Protocol

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
"""The trail says who did what, so only its owner may read it."""


_SAFELY: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""A link that was planted in the folder must not lead elsewhere, and a pipe must not block."""


class FileInfo(NamedTuple):
    """Which file has a name, and its size. The identity is (device, inode)."""

    ident: tuple[int, int]
    size: int


class OpenFile(Protocol):
    """One open file, read and written at offsets."""

    ident: tuple[int, int]

    def size(self) -> int:
        """The current size in bytes."""

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer at the end of the file."""

    def write(self, offset: int, data: bytes) -> None:
        """Write all of the bytes, or raise OSError after some of them."""

    def truncate(self, size: int) -> None:
        """Cut to a size."""

    def sync(self) -> None:
        """Return when everything written so far survives a power cut."""

    def close(self) -> None:
        """Close the file."""


class Disk(Protocol):
    """One folder."""

    def open(self, name: str, *, create: bool = False) -> OpenFile:
        """Open for reading and writing. FileNotFoundError unless `create`."""

    def stat(self, name: str) -> FileInfo | None:
        """The file with this name, or None."""

    def names(self) -> list[str]:
        """Every name in the folder."""

    def is_file(self, name: str) -> bool:
        """Whether the name is that of a plain file: no link, folder or pipe."""

    def rename(self, old: str, new: str) -> None:
        """Rename, replacing a file that has the new name."""

    def remove(self, name: str) -> None:
        """Delete."""

    def sync(self) -> None:
        """Return when creations, renames and deletions so far survive a power cut."""


class _FolderFile:
    """A file descriptor."""

    __slots__ = ("_fd", "ident")

    def __init__(self, fd: int) -> None:
        self._fd = fd
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise OSError(errno.EACCES, "not a plain file")
        self.ident = (found.st_dev, found.st_ino)

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def read(self, offset: int, count: int) -> bytes:
        return os.pread(self._fd, count, offset)

    def write(self, offset: int, data: bytes) -> None:
        written = os.pwrite(self._fd, data, offset)
        while written < len(data):
            written += os.pwrite(self._fd, data[written:], offset + written)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def sync(self) -> None:
        if sys.platform == "darwin":
            # macOS has no fdatasync, and its fsync leaves the bytes in the cache of the drive.
            fcntl.fcntl(self._fd, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(self._fd)

    def close(self) -> None:
        os.close(self._fd)


class FolderDisk:
    """A real folder. It must exist: see `make_folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = f"{folder}{os.sep}"

    def open(self, name: str, *, create: bool = False) -> OpenFile:
        flags = os.O_RDWR | _SAFELY | (os.O_CREAT if create else 0)
        return _FolderFile(os.open(self._base + name, flags, FILE_MODE))

    def stat(self, name: str) -> FileInfo | None:
        try:
            found = os.stat(self._base + name)  # noqa: PTH116 - in every commit; a Path costs more than the call
        except FileNotFoundError:
            return None
        return FileInfo((found.st_dev, found.st_ino), found.st_size)

    def names(self) -> list[str]:
        return [path.name for path in self._folder.iterdir()]

    def is_file(self, name: str) -> bool:
        return stat.S_ISREG((self._folder / name).lstat().st_mode)

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
    """A real folder for readers: works on a read-only copy and changes nothing."""

    def open(self, name: str, *, create: bool = False) -> OpenFile:
        if create:
            raise PermissionError(f"{name}: opened for reading")
        return _FolderFile(os.open(self._base + name, os.O_RDONLY | _SAFELY))


def make_folder(folder: Path) -> None:
    """Create the folder and its parents for the owner alone. An existing folder is left as it is."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def replace_file(disk: Disk, name: str, data: bytes) -> None:
    """Write a whole file durably, so that a reader sees the old content or the new, never a mix."""
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
