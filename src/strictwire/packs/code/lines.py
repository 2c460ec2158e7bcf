"""Places in text as LSP counts them: zero-based lines, characters in UTF-16 code units. Pure, except for `read_source`."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from strictwire.packs.code.engine import Mention

MAX_TEXT: Final = 8 * 1024 * 1024
"""Bytes of a file that is read as source text. Larger ones are data, or made by a machine."""

PREVIEW: Final = 200
"""Characters of a line that are shown."""

_PROBE: Final = 8192
"""Bytes in which a NUL means that the file is binary, as git decides it."""


class NotSource(OSError):
    """A file that is not read as text. `too_large` tells a large file from a binary or special one."""

    def __init__(self, *, too_large: bool) -> None:
        code = errno.EFBIG if too_large else errno.EINVAL
        super().__init__(code, os.strerror(code))
        self.too_large = too_large


def read_source(path: str, limit: int = MAX_TEXT) -> bytes:
    """The bytes of a text file. Raises OSError; of these NotSource: binary, too large, not a regular file."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotSource(too_large=False)
        if status.st_size > limit:
            raise NotSource(too_large=True)
        raw = _read(handle, limit + 1)
    finally:
        os.close(handle)
    if len(raw) > limit:  # it grew meanwhile
        raise NotSource(too_large=True)
    if b"\0" in raw[:_PROBE]:
        raise NotSource(too_large=False)
    return raw


def _read(handle: int, most: int) -> bytes:
    pieces = []
    while most > 0 and (piece := os.read(handle, most)):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def normalise(raw: bytes) -> bytes:
    """The same text with LF as the only line end; lines and characters stay where they are."""
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def decode(raw: bytes) -> str:
    """Normalised text. Bytes that are not UTF-8 become replacement characters."""
    return normalise(raw).decode("utf-8", "replace")


def utf16_length(text: str) -> int:
    """UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def locate(path: Path, raw: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[Mention]:
    """Mentions at byte spans of a file's normalised text, given in order; none crosses a line end."""
    line, line_start = 0, 0
    for start, end in spans:
        newlines = raw.count(b"\n", line_start, start)
        if newlines:
            line += newlines
            line_start = raw.rfind(b"\n", line_start, start) + 1
        character = _units(raw[line_start:start])
        after = character + _units(raw[start:end])
        yield Mention(path=path, line=line, character=character, end=after, preview=_preview(raw, line_start, end))


def neighbours(raw: bytes, start: int, end: int) -> tuple[str, str]:
    """The characters before and after a byte span; empty at the ends of the text."""
    # A character of UTF-8 has at most four bytes; half of one at the far side is replaced, and not looked at.
    before = raw[max(0, start - 4) : start].decode("utf-8", "replace")[-1:]
    return before, raw[end : end + 4].decode("utf-8", "replace")[:1]


def _units(raw: bytes) -> int:
    return len(raw) if raw.isascii() else utf16_length(raw.decode("utf-8", "replace"))


def _preview(raw: bytes, line_start: int, end: int) -> str:
    """The line around a match; of a very long one the part that ends with the match."""
    line_end = raw.find(b"\n", end, end + 4 * PREVIEW)
    begin = max(line_start, end - 4 * PREVIEW)
    line = raw[begin : line_end if line_end >= 0 else end + 4 * PREVIEW]
    return line.decode("utf-8", "replace").strip()[:PREVIEW]
