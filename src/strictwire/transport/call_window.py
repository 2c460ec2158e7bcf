"""How many calls of a stdio client run at once, so that a client that does not read cannot fill the memory.

A client may send ten thousand small requests whose answers have megabytes each, and read none of them. Whether answers are
large is known only when the first of them arrives, so the number of calls at once begins small and follows what is seen.
"""

from __future__ import annotations

from typing import Final

MAX_IN_FLIGHT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of requests that are being answered. Past it no further request is begun until one of them is answered."""

LARGE: Final = 64 * 1024
"""Bytes of a request that counts towards that; smaller ones are limited by their number, `MAX_IN_FLIGHT`. An answer of this
size makes the window smaller: it is what a pipe holds, so a client that does not read makes the next one wait."""

FIRST_WINDOW: Final = 16
"""Calls at once in the beginning: the largest answers, of 4 MiB, take 64 MiB. A client that reads none of its answers of
3.6 MB made the server take 190 to 208 MB with 16 and 556 MB with 256; with 64 it was disconnected, at `MAX_UNSENT`."""

LEAST_WINDOW: Final = 8
"""Calls at once while answers are large: 32 MiB."""

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""Bytes that calls at once may answer with, as far as the largest recent answer tells."""

WIDEN_SECONDS: Final = 0.25
"""Calls that only wait for something else double the window after this time: 1,000 of them have begun after 1.5 s. On a busy
machine calls that compute look the same, so the time is longer than most of those take."""

_FADING: Final = 0.98
"""How fast the largest answer is forgotten: after 200 small ones, an answer of 4 MiB counts as one of 64 KiB."""


class CallWindow:
    """The calls of one client that may run at once. Each small answer widens it by one, each large one halves it."""

    __slots__ = ("_large_bytes", "_largest", "_size")

    def __init__(self) -> None:
        self._size = FIRST_WINDOW
        self._large_bytes = 0
        """Bytes of the large requests that are being answered."""
        self._largest = 0.0
        """Bytes of the largest recent answer."""

    @property
    def size(self) -> int:
        """Calls that may run at once."""
        if self._largest < LARGE:
            return self._size
        return min(self._size, max(LEAST_WINDOW, int(MAX_ANSWER_BYTES / self._largest)))

    def has_room(self, running: int) -> bool:
        """Whether another call may begin beside those that run."""
        return running < self.size and self._large_bytes < MAX_IN_FLIGHT_BYTES

    def begin_large(self, size: int) -> None:
        """A large request begins."""
        self._large_bytes += size

    def end_large(self, size: int) -> None:
        """A large request is answered."""
        self._large_bytes -= size

    def note_answer(self, size: int) -> bool:
        """Fit the window to the size of an answer. Returns whether it became smaller."""
        self._largest = max(size, self._largest * _FADING)
        if size < LARGE:
            self._size += 1
            return False
        self._size = max(self._size // 2, LEAST_WINDOW)
        return True

    def double(self, running: int) -> None:
        """The calls that run only wait: let as many again begin."""
        self._size = 2 * max(self._size, running)
