"""What can go wrong with the trail, and the Failure that the caller of a tool gets for it.

LogFault
  code    AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED
  reason  why: disk_full read_only folder_missing denied io_error damaged lock_held closed ...
  record  for `damaged`, the first record that does not hold
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Failure, fail

LOG_FAILED: Final = "AUDIT_LOG_FAILED"
LOCK_FAILED: Final = "AUDIT_LOCK_FAILED"

_REASONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        errno.ENOSPC: "disk_full",
        errno.EDQUOT: "disk_full",
        errno.EFBIG: "disk_full",
        errno.EROFS: "read_only",
        errno.ENOENT: "folder_missing",
        errno.ENOTDIR: "folder_missing",
        errno.ESTALE: "folder_missing",
        errno.EACCES: "denied",
        errno.EPERM: "denied",
        errno.ELOOP: "denied",
        errno.EMFILE: "too_many_files",
        errno.ENFILE: "too_many_files",
    }
)
"""What the operating system says, in stable words. Anything else is `io_error`."""


class LogFault(Exception):
    """The record was not kept."""

    def __init__(self, reason: str, *, code: str = LOG_FAILED, record: int | None = None, owner: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.record = record
        """For a damaged log, the first record that does not hold."""
        self.owner = owner
        """For a lock, the process that holds it."""

    def __str__(self) -> str:
        where = "" if self.record is None else f" at record {self.record}"
        held = f" by {self.owner}" if self.owner else ""
        return f"{self.code}: {self.reason}{where}{held}"

    def as_failure(self) -> Failure:
        """What the caller of a tool is told: the reason, never a path."""
        cause: dict[str, JsonValue] = {"code": self.code, "reason": self.reason}
        if self.record is not None:
            cause["record"] = self.record
        if self.owner:
            cause["owner"] = self.owner
        return fail(self.code, details={"reason": self.reason}, cause=cause)


def fault_of(exc: OSError) -> LogFault:
    """What an error of the operating system comes to. Raise it from that: for what runs in every commit."""
    return LogFault(_REASONS.get(exc.errno or 0, "io_error"))


class _MappedErrors:
    """Not a generator: a generator costs more than most of what it guards."""

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _kind: object, exc: BaseException | None, _traceback: object) -> None:
        if isinstance(exc, OSError):
            raise fault_of(exc) from exc


_MAPPED: Final = _MappedErrors()


def mapped_errors() -> AbstractContextManager[None]:
    """Turn an OSError into a LogFault."""
    return _MAPPED
