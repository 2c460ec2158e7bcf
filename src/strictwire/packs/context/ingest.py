"""From a source tree to the list of files a build takes. Walks; opens no file, and asks for the status of links alone.

Directory links are not followed, so a loop of links ends nothing; the root itself may be a link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from strictwire.fault.failure import Refused, fail

MAX_FILES: Final = 2_500_000
"""Files of one build: what a manifest within its size bound can name."""


class NotBuilt(Refused):
    """A build that ended without output. `reason` is for people; the code decides the exit."""

    def __init__(self, code: str, reason: str, subject: str = "") -> None:
        super().__init__(fail(code))
        self.reason = reason
        self.subject = subject

    def __reduce__(self) -> tuple[type[NotBuilt], tuple[str, str, str]]:
        # It crosses from a worker process to the build.
        return type(self), (self.failure.code, self.reason, self.subject)


Stamp: TypeAlias = tuple[int, int, int, int]
"""Inode, size, modification time, change time: together they tell an unchanged file."""


class Source(NamedTuple):
    """One file to take: where it is, and its path relative to the root. A tuple, because a build has one for every file."""

    path: bytes
    relative: str


def stamp_of(status: os.stat_result) -> Stamp:
    """What a later status of the same file is compared with."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def look(source: Source) -> Stamp:
    """The stamp of the file as it is now. Raises OSError."""
    return stamp_of(os.stat(source.path))  # noqa: PTH116 - a path of bytes


def walk(root: bytes, accepts: Callable[[str], bool]) -> Iterator[Source]:
    """The regular files below `root` whose names are accepted, depth first, each folder sorted by name.

    Raises NotBuilt: IO_ERROR for a folder that cannot be read, INTERNAL for a path that is not UTF-8.
    """
    pending = [_listed(root)]
    prefix = len(os.path.join(root, b""))  # noqa: PTH118 - a path of bytes
    while pending:
        entry = next(pending[-1], None)
        if entry is None:
            pending.pop()
        elif entry.is_dir(follow_symlinks=False):
            pending.append(_listed(entry.path))
        elif accepts(entry.name.decode(errors="surrogateescape")) and _is_file(entry):
            yield _source(entry.path, prefix)


def _listed(folder: bytes) -> Iterator[os.DirEntry[bytes]]:
    try:
        with os.scandir(folder) as entries:
            return iter(sorted(entries, key=lambda entry: entry.name))
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "a folder cannot be read", os.fsdecode(folder)) from exc


def _is_file(entry: os.DirEntry[bytes]) -> bool:
    """Whether it is a regular file or leads to one. The listing tells for all but links; one that leads nowhere is none."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _source(path: bytes, prefix: int) -> Source:
    relative = path[prefix:]
    try:
        return Source(path, relative.decode())
    except UnicodeDecodeError:
        raise NotBuilt("INTERNAL", "a path is not UTF-8", os.fsdecode(relative)) from None
