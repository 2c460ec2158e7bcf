"""The table that maps OSError to failure codes of the path and file groups.

Each code has one cause: INVALID_PATH malformed, PATH_TRAVERSAL_BLOCKED `..`, OUTSIDE_WORKSPACE leads outside,
PATH_NOT_FOUND a folder is missing, FILE_NOT_FOUND the file itself is missing, FILE_READ_FAILED and FILE_WRITE_FAILED
everything else.
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
    """What the caller intended. The value is the code for errors that the tables below do not list."""

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
"""ENOENT means that the file itself is missing. `jail` uses PATH_NOT_FOUND instead if a folder was asked for or the parent
folder is missing."""

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
"""The public `reason` of a failure; every other error is `io`."""

_CODE_REASONS: Final[Mapping[str, str]] = MappingProxyType({"OUTSIDE_WORKSPACE": "link", "INVALID_PATH": "too_long"})
"""The `reason` of codes that are not the caller's `Aim`."""


def path_refusal(exc: OSError, aim: Aim) -> Refused:
    """Return the failure for an error during path lookup."""
    code = _PATH_CODES.get(exc.errno or 0, aim.value)
    reason = _CODE_REASONS.get(code) if code != aim.value else _reason(exc)
    return Refused(fail(code, details={"reason": reason} if reason else {}, cause=_cause(exc)))


def content_refusal(exc: OSError, aim: Aim) -> Refused:
    """Return the failure for an error after the file was opened. The path was valid, so no path code applies."""
    return Refused(fail(aim.value, details={"reason": _reason(exc)}, cause=_cause(exc)))


def kind_refusal(kind: str, aim: Aim) -> Refused:
    """Return the failure for something that exists but is not a regular file."""
    return Refused(fail(aim.value, details={"reason": kind}))


def _reason(exc: OSError) -> str:
    return _REASONS.get(exc.errno or 0, "io")


def _cause(exc: OSError) -> JsonValue:
    """Build the cause from the error number alone, because the original exception contains a file name."""
    return plain(OSError(exc.errno, os.strerror(exc.errno or 0)))
