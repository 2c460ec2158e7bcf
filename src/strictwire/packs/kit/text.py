"""Text limits: strict UTF-8 decoding, truncation at character boundaries, line ranges, and measurements. Pure.

A character is a code point. A line ends with LF, CRLF or CR, as in editors and language servers. Other Unicode line
separators are ordinary characters.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject

MARK: Final = "…[cut]"
"""Marker appended to truncated text."""


class NotText(ValueError):
    """The bytes are not UTF-8. Carries the offset of the first invalid byte."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position

    def __str__(self) -> str:
        return f"not UTF-8 at byte {self.position}"


def decode(raw: bytes) -> str:
    """Decode UTF-8. Nothing is repaired; a byte order mark is kept as a character. Raises NotText."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise NotText(exc.start) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text, truncated if it was longer than its limit."""

    text: str
    is_cut: bool
    omitted: int = 0
    """Number of characters of the original that are not in `text`."""


def cut_bytes(text: str, limit: int, mark: str = MARK) -> Cut:
    """Truncate a text to `limit` bytes of UTF-8, including the mark. A text that fits is returned unchanged.

    Raises ValueError: the mark alone is longer than the limit.
    """
    raw = text.encode()
    if len(raw) <= limit:
        return Cut(text=text, is_cut=False)
    room = _room(limit, len(mark.encode()))
    # The cut can only split the last character. "ignore" drops its leading bytes.
    kept = raw[:room].decode("utf-8", "ignore")
    return Cut(text=kept + mark, is_cut=True, omitted=len(text) - len(kept))


def cut_characters(text: str, limit: int, mark: str = MARK) -> Cut:
    """Truncate a text to `limit` characters, including the mark. A text that fits is returned unchanged.

    Raises ValueError: the mark alone is longer than the limit.
    """
    if len(text) <= limit:
        return Cut(text=text, is_cut=False)
    room = _room(limit, len(mark))
    return Cut(text=text[:room] + mark, is_cut=True, omitted=len(text) - room)


def _room(limit: int, mark: int) -> int:
    if limit < mark:
        raise ValueError(f"a limit of {limit} leaves no room for the mark")
    return limit - mark


_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """Split a text into lines, keeping the line ends: joined, they are the text again. An empty text has no lines."""
    return _LINE.findall(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRange:
    """A range of lines of a text, with their line ends."""

    text: str
    start: int
    """The first line, counted from 0."""
    count: int
    total: int
    """Number of lines in the whole text."""


def take_lines(text: str, start: int, count: int) -> LineRange:
    """Return up to `count` lines from line `start`, counted from 0; past the end there are none.

    Raises ValueError: a negative start or count.
    """
    if start < 0 or count < 0:
        raise ValueError("lines are counted from 0")
    lines = split_lines(text)
    taken = lines[start : start + count]
    return LineRange(text="".join(taken), start=start, count=len(taken), total=len(lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The size of a text."""

    bytes: int
    """UTF-8 bytes."""
    characters: int
    words: int
    """Runs of characters that are not white space."""
    lines: int
    """A last line without a line end counts."""
    sha256: str
    """Hash of the UTF-8 bytes, in hex."""

    def as_json(self) -> JsonObject:
        """Return the members of an answer."""
        return {name: getattr(self, name) for name in self.__slots__}


def measure(text: str) -> Measure:
    """Measure a text."""
    raw = text.encode()
    return Measure(
        bytes=len(raw),
        characters=len(text),
        words=len(text.split()),
        lines=len(split_lines(text)),
        sha256=hashlib.sha256(raw).hexdigest(),
    )
