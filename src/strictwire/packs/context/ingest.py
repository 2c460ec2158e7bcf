"""Finds the files of a source tree that a build takes. Opens no file, and reads the status of links only.

Links to directories are not followed, so cycles cannot occur. The root itself may be a link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from strictwire.fault.failure import Refused, fail

MAX_FILES: Final = 2_500_000
"""Most files in one build: what a manifest within its size limit can list."""


class NotBuilt(Refused):
    """The build failed and wrote nothing. `reason` is a text for people; the failure code decides the exit code."""

    def __init__(self, code: str, reason: str, subject: str = "") -> None:
        super().__init__(fail(code))
        self.reason = reason
        self.subject = subject

    def __reduce__(self) -> tuple[type[NotBuilt], tuple[str, str, str]]:
        # The exception is pickled: it passes from a worker process to the build.
        return type(self), (self.failure.code, self.reason, self.subject)


Stamp: TypeAlias = tuple[int, int, int, int]
"""Inode, size, modification time and change time. If all are equal, the file is unchanged."""


class Source(NamedTuple):
    """A file to take: its path, and its path relative to the root. A tuple for speed: a build has one per file."""

    path: bytes
    relative: str


def root_of(source: Source) -> bytes:
    """Return the root of the tree that a source is in."""
    return source.path[: len(source.path) - len(source.relative.encode())]


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file status."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def look(source: Source) -> Stamp:
    """Return the current stamp of the file. Raises OSError."""
    return stamp_of(os.stat(source.path))  # noqa: PTH116 - a path of bytes


def walk(root: bytes, accepts: Callable[[str], bool]) -> Iterator[Source]:
    """Yield the regular files below `root` whose names are accepted: depth first, each folder sorted by name.

    Raises NotBuilt: IO_ERROR if a folder cannot be read, INTERNAL if a path is not UTF-8.
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
    """Return whether it is a regular file or a link to one. A link costs a status call; a broken link is not a file."""
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
