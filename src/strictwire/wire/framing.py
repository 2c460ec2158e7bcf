"""Lines out of a stream of bytes, bounded without keeping the excess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_BLANKS: Final = b" \t\r"


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line past the limit; its bytes were dropped as they came."""


class LineSplitter:
    """Feed chunks, get whole lines without their `\\n`. Blank lines are not messages and are passed over."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that this chunk completes."""
        *complete, rest = chunk.split(b"\n")
        if self._size or len(chunk) > self._limit:
            lines = [line for part in complete for line in self._take(part)]
        else:
            lines = [part for part in complete if part.strip(_BLANKS)]
        if rest:
            self._keep(rest)
        return lines

    def finish(self) -> list[bytes | TooLong]:
        """What is left at the end of the stream: a last line needs no line break."""
        return self._take(b"")

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._pending.clear()
        else:
            self._pending.append(part)

    def _take(self, part: bytes) -> list[bytes | TooLong]:
        """The line that ends in this part, unless it is blank."""
        self._keep(part)
        line, size = b"".join(self._pending), self._size
        self._pending, self._size = [], 0
        if size > self._limit:
            return [TooLong()]
        return [line] if line.strip(_BLANKS) else []
