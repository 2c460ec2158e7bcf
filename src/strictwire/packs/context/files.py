"""Reading one file of a cache through its directory's descriptor: never through a link, never past a bound.

Holding the directory open means that a cache replaced under its name is still read as one generation.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from strictwire.packs.context.rules import Unusable

_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENAMETOOLONG})
"""What the system says when a regular file of that name is not there. Anything else is the environment's failure."""

_AT_ONCE: Final = 16_384
"""Most documents are shorter: open, read and close are then all the calls they cost."""

_FILE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_DIRECTORY: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


@contextmanager
def open_directory(path: str | os.PathLike[str], *, within: int | None = None, rule: str) -> Iterator[int]:
    """A directory's descriptor; inside another one it must not be a link. Raises Unusable: `rule`, READABLE."""
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
    """The bytes of a regular file. Raises Unusable: `rule` if there is none, `too_large`, READABLE."""
    try:
        handle = os.open(name, _FILE, dir_fd=within)
    except OSError as exc:
        raise _unusable(exc, rule, name) from exc
    try:
        raw = os.read(handle, _AT_ONCE)
        return raw if 0 < len(raw) < _AT_ONCE else _read_more(handle, raw, name, limit=limit, rule=rule, too_large=too_large)
    except OSError as exc:
        raise _unusable(exc, rule, name) from exc
    finally:
        os.close(handle)


def list_names(directory: int) -> list[str]:
    """The names in a directory. Raises Unusable: READABLE."""
    try:
        return os.listdir(directory)
    except OSError as exc:
        raise Unusable("READABLE") from exc


def _read_more(handle: int, raw: bytes, name: str, *, limit: int, rule: str, too_large: str) -> bytes:
    """What does not fit one read, or gave nothing: only here it matters what kind of file it is and how long."""
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
