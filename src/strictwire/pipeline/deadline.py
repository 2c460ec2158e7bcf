"""The time limit of a running handler, which is paused while a question to the client is open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec


class Deadline(msgspec.Struct):
    """Seconds that a handler has left, or None. A timer is set only if the handler waits."""

    seconds: float | None
    pauses: int = 0
    """Pauses that have not ended. They may overlap."""
    timeout: asyncio.Timeout | None = None

    def arm(self) -> asyncio.Timeout:
        """The limit as a context to wait in. Leaving it raises TimeoutError once the time is up."""
        self.timeout = asyncio.timeout_at(self._ends())
        return self.timeout

    def pause(self) -> None:
        """Stop the clock until `resume`."""
        self.pauses += 1
        ends = self.timeout.when() if self.timeout is not None else None
        if self.timeout is not None and ends is not None:
            self.seconds = ends - asyncio.get_running_loop().time()
            self.timeout.reschedule(None)

    def resume(self) -> None:
        """Continue with the seconds that were left."""
        self.pauses -= 1
        if self.timeout is not None and not self.pauses:
            self.timeout.reschedule(self._ends())

    def _ends(self) -> float | None:
        if self.seconds is None or self.pauses:
            return None
        return asyncio.get_running_loop().time() + self.seconds


@contextmanager
def paused(deadline: Deadline | None) -> Iterator[None]:
    """Stop the clock of a deadline, if there is one, for as long as a question is open."""
    if deadline is None:
        yield
        return
    deadline.pause()
    try:
        yield
    finally:
        deadline.resume()
