"""Standard error as a stream that never waits for its reader.

Many clients start a server and leave its standard error unread. A pipe holds 64 KiB and a terminal less; a write beyond that
would block the event loop for ever, whether it is a log message, a traceback or a `print` in a handler.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import threading
import time
from typing import Any, Final, cast

_LOST: Final = "\n%d messages are missing here: standard error was not read\n"
"""Begins a new line, because the last message may be cut."""

WAIT_SECONDS: Final = 0.02
"""The time that one message waits for a reader that is only slow: a terminal takes 4 KiB at a time. After a message that was
left out, the next ones do not wait."""


class UnblockedStream(io.RawIOBase):
    """Writes to a descriptor. What does not fit is counted and left out; no write fails."""

    def __init__(self, descriptor: int) -> None:
        self._given = descriptor
        self._own = _reopen(descriptor)
        self._poll = select.poll()
        self._poll.register(self._own, select.POLLOUT)
        self._lost = 0
        """Messages that were left out, or cut, since the last that was written."""
        self._renew_lock()
        os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()

    def fileno(self) -> int:
        """The descriptor that the process was started with."""
        return self._given

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._given)

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, message: Any, /) -> int:
        """Write a message, after the number of those that are missing before it."""
        data = memoryview(message).cast("B")
        with self._lock:
            if self._lost and self._put(memoryview((_LOST % self._lost).encode())):
                self._lost = 0
            if self._lost or not self._put(data):
                self._lost += 1
        return len(data)

    def _put(self, data: memoryview) -> bool:
        """Write in pieces that a pipe takes whole once it is writable (POSIX, PIPE_BUF). False if it is full, or gone."""
        ends = time.monotonic() + (0.0 if self._lost else WAIT_SECONDS)
        while data:
            if not self._poll.poll(max(0.0, ends - time.monotonic()) * 1000):
                return False
            try:
                data = data[os.write(self._own, data[: select.PIPE_BUF]) :]
            except BlockingIOError:
                # Another process was quicker, or a terminal has less room than it seems.
                if time.monotonic() >= ends:
                    return False
            except OSError:
                return False
        return True


def _reopen(descriptor: int) -> int:
    """The same pipe or terminal, opened again without blocking; the descriptor itself where that is impossible.

    Not O_NONBLOCK on the descriptor: other processes share it, and do not expect it. Two of them may see the same room in a
    pipe, and a terminal takes part of a piece, so a descriptor that blocks would block in spite of `poll`.
    """
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        return descriptor
    try:
        return os.open(f"/dev/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return descriptor


def unblock_standard_error() -> None:
    """Make `sys.stderr` such a stream. One that the author has replaced, and a closed one, stay as they are."""
    given = sys.stderr
    if given is not sys.__stderr__ or given is None:
        return
    given.flush()
    raw = cast("io.BufferedWriter", UnblockedStream(given.fileno()))  # a raw stream will do, as with `python -u`
    sys.stderr = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)
