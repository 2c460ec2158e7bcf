"""Lines out of a stream of bytes, bounded without keeping the excess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line past the limit; its bytes were dropped as they came."""


class LineSplitter:
    """Feed chunks, get whole lines without their `\\n`. Blank lines are not messages and are passed over."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        """The lines that this chunk completes."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if self._size or len(part) > self._limit:
                self._keep(part)
                yield from self._take()
            elif part.strip(b" \t\r"):
                yield part
        self._keep(rest)

    def finish(self) -> Iterator[bytes | TooLong]:
        """What is left at the end of the stream: a last line needs no line break."""
        yield from self._take()

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._pending.clear()
        elif part:
            self._pending.append(part)

    def _take(self) -> Iterator[bytes | TooLong]:
        line, size = b"".join(self._pending), self._size
        self._pending, self._size = [], 0
        if size > self._limit:
            yield TooLong()
        elif line.strip(b" \t\r"):
            yield line
