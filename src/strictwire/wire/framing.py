"""Line framing: splits a byte stream into lines of limited length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_BLANKS: Final = b" \t\r"
"""Bytes of a blank line. `\\r` is one of them: some clients end lines with `\\r\\n`."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line above the limit. Its bytes were dropped as they arrived, so they never fill the memory."""


class LineSplitter:
    """Takes chunks of bytes and returns complete lines without the `\\n`. Blank lines are skipped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending = bytearray()
        """One buffer, not a list of pieces: a line that arrives two bytes at a time would take twenty times its size."""
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """Add a chunk. Returns the lines that it completes."""
        *complete, rest = chunk.split(b"\n")
        # Fast path: no line can be above the limit if nothing is pending and the whole chunk is within it.
        if self._size or len(chunk) > self._limit:
            lines = [line for part in complete for line in self._take(part)]
        else:
            lines = [part for part in complete if part.strip(_BLANKS)]
        if rest:
            self._keep(rest)
        return lines

    def finish(self) -> list[bytes | TooLong]:
        """End of the stream. Returns the last line if it has no line break."""
        return self._take(b"")

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._pending.clear()
        else:
            self._pending += part

    def _take(self, part: bytes) -> list[bytes | TooLong]:
        """The line that ends with this part, or nothing if the line is blank."""
        self._keep(part)
        line, size = bytes(self._pending), self._size
        self._pending, self._size = bytearray(), 0
        if size > self._limit:
            return [TooLong()]
        return [line] if line.strip(_BLANKS) else []
