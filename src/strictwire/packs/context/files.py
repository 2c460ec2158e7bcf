"""Reads one file of a cache relative to the descriptor of its directory, without following links and with a size limit.

The open descriptor keeps the directory: a cache that is replaced under the same name is still read as one generation.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from strictwire.packs.context.rules import Unusable

_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENAMETOOLONG})
"""Errors that mean "there is no regular file with this name". Every other error is a failure of the system (READABLE)."""

_FIRST_READ: Final = 16_384
"""Bytes of the first read. Most documents are shorter and cost three system calls: open, read and close."""

_FILE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_DIRECTORY: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


@contextmanager
def open_directory(path: str | os.PathLike[str], *, within: int | None = None, rule: str) -> Iterator[int]:
    """Open a directory and yield its descriptor. Below `within` it must not be a link. Raises Unusable: `rule`, READABLE."""
    flags = _DIRECTORY if within is None else _DIRECTORY | os.O_NOFOLLOW
    try:
        handle = os.open(path, flags, dir_fd=within)
    except OSError as exc:
        raise _unusable(exc, rule, os.fspath(path)) from exc
    try:
        yield handle
    finally:
        os.close(handle)


def read_file(name: str, *, within: int, limit: int, rule: str, too_large: str) -> bytes:
    """Read a regular file. Raises Unusable: `rule` if it is absent, `too_large`, READABLE."""
    try:
        handle = os.open(name, _FILE, dir_fd=within)
    except OSError as exc:
        raise _unusable(exc, rule, name) from exc
    try:
        raw = os.read(handle, _FIRST_READ)
        is_whole = 0 < len(raw) < _FIRST_READ
        return raw if is_whole else _read_rest(handle, raw, name, limit=limit, rule=rule, too_large=too_large)
    except OSError as exc:
        raise _unusable(exc, rule, name) from exc
    finally:
        os.close(handle)


def list_names(directory: int) -> list[str]:
    """List the names in a directory. Raises Unusable: READABLE."""
    try:
        return os.listdir(directory)
    except OSError as exc:
        raise Unusable("READABLE") from exc


def _read_rest(handle: int, raw: bytes, name: str, *, limit: int, rule: str, too_large: str) -> bytes:
    """Read a file that filled the first read or returned nothing. Only here do its type and size need a check."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise Unusable(rule, name)
    if status.st_size > limit:
        raise Unusable(too_large, name)
    parts = [raw]
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _unusable(exc: OSError, rule: str, subject: str) -> Unusable:
    return Unusable(rule if exc.errno in _ABSENT else "READABLE", subject)


def add_up(folder: Path) -> int:
    """Return the size of the files directly in a folder; 0 if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0
