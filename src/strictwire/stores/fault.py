"""What can go wrong with a trail, and the Failure that the caller of a tool gets for it.

LogFault
  code    AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED
  reason  disk_full read_only folder_missing denied io_error damaged lock_held closed backlog ...
  record  for `damaged`: the first bad record
  detail  for `damaged`: what is wrong, for people
  owner   for `lock_held`: the process that holds the lock
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Failure, fail

LOG_FAILED: Final = "AUDIT_LOG_FAILED"
LOCK_FAILED: Final = "AUDIT_LOCK_FAILED"

DAMAGED: Final = "damaged"
"""The reason for a log that was changed by something other than a crash."""

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
"""errno to a stable word. Anything else is `io_error`."""


class LogFault(Exception):
    """The trail could not be written or read; records of the commit were not kept."""

    def __init__(
        self, reason: str, *, code: str = LOG_FAILED, record: int | None = None, owner: str = "", detail: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.record = record
        self.owner = owner
        self.detail = detail

    def __str__(self) -> str:
        where = "" if self.record is None else f" at record {self.record}"
        held = f" by {self.owner}" if self.owner else ""
        why = f": {self.detail}" if self.detail else ""
        return f"{self.code}: {self.reason}{where}{held}{why}"

    def as_failure(self) -> Failure:
        """The failure for the caller of a tool: the reason, never a path."""
        cause: dict[str, JsonValue] = {"code": self.code, "reason": self.reason}
        if self.record is not None:
            cause["record"] = self.record
        if self.owner:
            cause["owner"] = self.owner
        return fail(self.code, details={"reason": self.reason}, cause=cause)


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Turn an OSError into a LogFault."""
    try:
        yield
    except OSError as exc:
        raise as_fault(exc) from exc


def as_fault(exc: OSError) -> LogFault:
    """The LogFault for an error of the operating system."""
    return LogFault(_REASONS.get(exc.errno or 0, "io_error"))
