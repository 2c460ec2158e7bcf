"""Places in text as LSP counts them: zero-based lines, characters in UTF-16 code units. Pure, except for `read_text`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import Final

MAX_TEXT: Final = 8 * 1024 * 1024
"""Bytes of a file that is read as source text. Larger ones are data, or made by a machine."""

PREVIEW: Final = 200
"""Characters of a line that are shown."""

_PROBE: Final = 8192
"""Bytes in which a NUL means that the file is binary, as git decides it."""


class NotSource(Exception):
    """A file that is not read as text. `too_large` tells a large file from a binary or special one."""

    def __init__(self, *, too_large: bool) -> None:
        super().__init__(too_large)
        self.too_large = too_large


def read_source(path: str, limit: int = MAX_TEXT) -> bytes:
    """The bytes of a text file. Raises NotSource: binary, too large, not a regular file; OSError."""
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


def decode(raw: bytes) -> str:
    """Text with LF as the only line end. Bytes that are not UTF-8 become one replacement character each."""
    text = raw.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def utf16_length(text: str) -> int:
    """UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def locate(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int, str]]:
    """Line, first character, end character and preview of spans, given in order; none crosses a line end."""
    line, line_start = 0, 0
    for start, end in spans:
        newlines = text.count("\n", line_start, start)
        if newlines:
            line += newlines
            line_start = text.rfind("\n", line_start, start) + 1
        character = utf16_length(text[line_start:start])
        line_end = text.find("\n", end)
        preview = text[line_start : line_end if line_end >= 0 else len(text)].strip()[:PREVIEW]
        yield line, character, character + utf16_length(text[start:end]), preview
