"""Run logs as files: one per run, the last five that have ended kept, and a link to the newest (clause V11).

    <root>/mcp_server/envelope_validation/
      000017.20260101T000000Z.jsonl    one event per line; numbered, so that the order does not depend on the clock
      .latest -> 000017.…              replaced atomically; relative, so that the folder can be moved

A run log shows how requests went; the audit trail proves it. So a run log never stops a call. If it cannot write (no
folder, a full disk, a file at its limit), it warns once through `logging`, counts the lost events, and reports them as
`metadata.lost` in the next event it can write. A partly written line is removed. Several servers may share the folder;
each has its own file, and holds a lock on it while it runs: the file of a living process is never removed.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, render_sorted

log = logging.getLogger("strictwire.runlog")

FOLDER: Final = Path("mcp_server") / "envelope_validation"
"""Below the root, which is `runs` by default."""

LATEST: Final = ".latest"
KEPT: Final = 5
"""Runs that are kept of those that have ended (clause V11)."""

MAX_BYTES: Final = 64 * 1024 * 1024
"""Of one file: about 150,000 events. A client that sends garbage for days must not fill the disk."""

_NAME: Final = re.compile(r"(?P<number>[0-9]{6,})\.[0-9]{8}T[0-9]{6}Z\.jsonl")

_ATTEMPTS: Final = 100
"""Numbers to try while other servers take them at the same moment."""


class FileRunLog:
    """The log of one run. Opening it never fails."""

    def __init__(self, root: Path, *, now: Callable[[], float], max_bytes: int = MAX_BYTES) -> None:
        self._folder = root / FOLDER
        self._max_bytes = max_bytes
        self._file: int | None = None
        self._size = 0
        self._lost = 0
        self.path: Path | None = None
        """The file of this run; None if it could not be created."""
        try:
            self._open(f"{datetime.fromtimestamp(int(now()), UTC):%Y%m%dT%H%M%SZ}")
        except OSError as exc:
            self._warn("cannot be opened", exc.strerror)

    def write(self, event: JsonObject) -> None:
        """Append one event, or count it as lost."""
        if self._file is None:
            return
        shown = event if not self._lost else event | {"metadata": event["metadata"] | {"lost": self._lost}}
        line = render_sorted(shown) + b"\n"
        if self._size + len(line) > self._max_bytes:
            self._lose(f"has reached {self._max_bytes} bytes", None)
            return
        try:
            _write_all(self._file, line)
        except OSError as exc:
            with suppress(OSError):  # an incomplete line is better than no log
                os.ftruncate(self._file, self._size)
            self._lose("cannot be written", exc.strerror)
            return
        self._size += len(line)
        self._lost = 0

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self, stamp: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self.path = self._create(stamp)
        _replace_link(self._folder / LATEST, self.path.name)
        ended = [path for _, name in _list_runs(self._folder) if _has_ended(path := self._folder / name)]
        for old in ended[:-KEPT]:
            old.unlink(missing_ok=True)

    def _create(self, stamp: str) -> Path:
        """Create a file that no other server has. Raises OSError."""
        number = max((taken for taken, _ in _list_runs(self._folder)), default=0)
        for attempt in range(1, _ATTEMPTS + 1):
            path = self._folder / f"{number + attempt:06d}.{stamp}.jsonl"
            with suppress(FileExistsError):
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
                # Shared: a reader that looks whether the run has ended asks for an exclusive lock.
                fcntl.flock(self._file, fcntl.LOCK_SH)
                return path
        raise FileExistsError(None, "every number is taken")

    def _lose(self, what: str, reason: str | None) -> None:
        self._lost += 1
        if self._lost == 1:
            self._warn(what, reason)

    def _warn(self, what: str, reason: str | None) -> None:
        more = f": {reason}" if reason else ""
        log.warning("the run log in %s %s%s; requests are served without it", self._folder, what, more)


def _list_runs(folder: Path) -> list[tuple[int, str]]:
    """The runs in a folder, oldest first."""
    names = (_NAME.fullmatch(name) for name in os.listdir(folder))  # noqa: PTH208 - only the names are needed
    return sorted((int(found["number"]), found.string) for found in names if found is not None)


def _has_ended(path: Path) -> bool:
    """Whether no process holds the lock of a run log. The kernel releases it with the process."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def _replace_link(link: Path, target: str) -> None:
    """Replace a link atomically: a reader finds the old run or the new one."""
    fresh = link.with_name(f"{link.name}.{target}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _write_all(file: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(file, rest) :]
