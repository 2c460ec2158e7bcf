"""Notices a process that does not read its input. Writers wait in the meantime, which pauses them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

READ_SECONDS: Final = 30.0
"""A process that has taken nothing of what waits for it in this time hangs. As long as a call may be silent."""

PIPE_BYTES: Final = 64 * 1024
"""What a pipe of the system holds: with less, a process that does not read cannot be told from one that is idle."""


class ReadingWatch:
    """The bytes that wait for one process."""

    def __init__(self, unsent: Callable[[], int], give_up: Callable[[], None]) -> None:
        """`unsent` tells how many bytes wait; `give_up` is called when none of them was taken in READ_SECONDS."""
        self._unsent = unsent
        self._give_up = give_up
        self._written = 0
        self._timer: asyncio.TimerHandle | None = None

    def note_write(self, size: int) -> None:
        """Bytes are about to be written."""
        self._written += size
        if self._timer is None and self._unsent() + size > PIPE_BYTES:
            self._expect_progress()

    def close(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()

    @property
    def _taken(self) -> int:
        return self._written - self._unsent()

    def _expect_progress(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(READ_SECONDS, self._check, self._taken)

    def _check(self, taken_before: int) -> None:
        """The pipe takes the first bytes by itself, so a process that reads nothing is noticed by the second check."""
        self._timer = None
        if not self._unsent():
            return
        if self._taken > taken_before:
            self._expect_progress()
        else:
            self._give_up()
