"""The time limit of a running handler, which stands still while a person is asked."""

from __future__ import annotations

import asyncio


class Deadline:
    """Seconds that a handler has. Armed only when the handler first waits: one that never does needs no timer."""

    __slots__ = ("_left", "_paused", "_timeout")

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._paused = 0
        self._timeout: asyncio.Timeout | None = None

    def arm(self) -> asyncio.Timeout:
        """The limit as a context to wait in."""
        ends = None if self._paused else asyncio.get_running_loop().time() + self._left
        self._timeout = asyncio.timeout_at(ends)
        return self._timeout

    def expired(self) -> bool:
        """Whether the time is up."""
        return self._timeout is not None and self._timeout.expired()

    def pause(self) -> None:
        """Time stands still until `resume`; questions may overlap."""
        self._paused += 1
        ends = self._timeout.when() if self._timeout is not None else None
        if self._timeout is not None and ends is not None:
            self._left = ends - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)

    def resume(self) -> None:
        """Time runs on from where it stood."""
        self._paused -= 1
        if self._timeout is not None and not self._paused:
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)
