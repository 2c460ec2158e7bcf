"""From a source tree to the list of files a build takes. Walks and looks; reads no content.

Directory links are not followed, so a loop of links ends nothing; the root itself may be a link.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

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


class Source(NamedTuple):
    """One file to take: where it is, its path relative to the root, and its status when it was seen.

    A tuple, because a build has one for every file.
    """

    path: bytes
    relative: str
    size: int
    stamp: tuple[int, int, int]
    """Inode, modification time, change time: together with the size they tell an unchanged file."""


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
        elif accepts(os.fsdecode(entry.name)) and (source := _maybe_source(entry, prefix)):
            yield source


def _listed(folder: bytes) -> Iterator[os.DirEntry[bytes]]:
    try:
        with os.scandir(folder) as entries:
            return iter(sorted(entries, key=lambda entry: entry.name))
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "a folder cannot be read", os.fsdecode(folder)) from exc


def _maybe_source(entry: os.DirEntry[bytes], prefix: int) -> Source | None:
    """The file behind an entry; None for what is not a regular file, such as a link that leads nowhere."""
    try:
        status = entry.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    relative = entry.path[prefix:]
    try:
        text = relative.decode()
    except UnicodeDecodeError:
        raise NotBuilt("INTERNAL", "a path is not UTF-8", os.fsdecode(relative)) from None
    return Source(entry.path, text, status.st_size, (status.st_ino, status.st_mtime_ns, status.st_ctime_ns))
