"""What the operating system says, as codes: the one table between OSError and the path and file groups.

Every code has its own cause: INVALID_PATH malformed, PATH_TRAVERSAL_BLOCKED `..`, OUTSIDE_WORKSPACE lands outside,
PATH_NOT_FOUND a folder is missing, FILE_NOT_FOUND the file itself is, FILE_READ_FAILED and FILE_WRITE_FAILED the rest.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Refused, fail
from strictwire.fault.plain import plain


class Aim(Enum):
    """What was to be done; the value is the code for whatever the tables below do not name."""

    READ = "FILE_READ_FAILED"
    WRITE = "FILE_WRITE_FAILED"


_PATH_CODES: Final[Mapping[int, str]] = MappingProxyType(
    {
        errno.EXDEV: "OUTSIDE_WORKSPACE",
        errno.ENAMETOOLONG: "INVALID_PATH",
        errno.ENOTDIR: "PATH_NOT_FOUND",
        errno.ENOENT: "FILE_NOT_FOUND",
    }
)
"""ENOENT is of the file itself; whoever asked for a folder, or finds the parent missing, says PATH_NOT_FOUND."""

_REASONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        errno.EACCES: "permission",
        errno.EPERM: "permission",
        errno.EROFS: "read_only",
        errno.ELOOP: "link",
        errno.ENXIO: "device",
        errno.ENODEV: "device",
        errno.EISDIR: "folder",
        errno.ENOSPC: "full",
        errno.EDQUOT: "full",
        errno.EFBIG: "full",
        errno.EMFILE: "busy",
        errno.ENFILE: "busy",
        errno.EAGAIN: "busy",
    }
)
"""The public word for why; anything else is `io`."""

_CODE_REASONS: Final[Mapping[str, str]] = MappingProxyType({"OUTSIDE_WORKSPACE": "link", "INVALID_PATH": "too_long"})


def path_refusal(exc: OSError, aim: Aim) -> Refused:
    """The refusal for an error met on the way to a path."""
    code = _PATH_CODES.get(exc.errno or 0, aim.value)
    reason = _CODE_REASONS.get(code) if code != aim.value else _reason(exc)
    return Refused(fail(code, details={"reason": reason} if reason else {}, cause=_cause(exc)))


def content_refusal(exc: OSError, aim: Aim) -> Refused:
    """The refusal for an error met after the file was reached: whatever it is, the path is not to blame."""
    return Refused(fail(aim.value, details={"reason": _reason(exc)}, cause=_cause(exc)))


def kind_refusal(kind: str, aim: Aim) -> Refused:
    """The refusal of something that is there and is not a file."""
    return Refused(fail(aim.value, details={"reason": kind}))


def _reason(exc: OSError) -> str:
    return _REASONS.get(exc.errno or 0, "io")


def _cause(exc: OSError) -> JsonValue:
    """Made anew, because the original names a file."""
    return plain(OSError(exc.errno, os.strerror(exc.errno or 0)))
