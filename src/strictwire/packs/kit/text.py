"""Limits of text: strict UTF-8, cuts between characters, ranges of lines, and measures. Pure.

A character is a code point. A line ends with LF, CRLF or CR, as editors and language servers count; other separators of
Unicode are part of the line.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject

MARK: Final = "…[cut]"
"""What stands where text was left out."""


class NotText(ValueError):
    """The bytes are not UTF-8. Carries the offset of the first that is not."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position

    def __str__(self) -> str:
        return f"not UTF-8 at byte {self.position}"


def decode(raw: bytes) -> str:
    """The text of bytes; nothing is repaired, and a byte order mark is a character. Raises NotText."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise NotText(exc.start) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text within its limit."""

    text: str
    is_cut: bool
    omitted: int = 0
    """Characters of the original that are not in it."""


def cut_bytes(text: str, limit: int, mark: str = MARK) -> Cut:
    """The text, or as much of its start as fits into `limit` bytes of UTF-8 together with the mark.

    Raises ValueError: a limit in which the mark does not fit.
    """
    raw = text.encode()
    if len(raw) <= limit:
        return Cut(text=text, is_cut=False)
    room = _room(limit, len(mark.encode()))
    # Only the last character can be broken, and only its first bytes are there: they are dropped, not repaired.
    kept = raw[:room].decode("utf-8", "ignore")
    return Cut(text=kept + mark, is_cut=True, omitted=len(text) - len(kept))


def cut_characters(text: str, limit: int, mark: str = MARK) -> Cut:
    """The text, or as much of its start as fits into `limit` characters together with the mark.

    Raises ValueError: a limit in which the mark does not fit.
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
    """The lines with their ends: joined they are the text again. An empty text has none."""
    return _LINE.findall(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRange:
    """Some lines of a text, with their ends."""

    text: str
    start: int
    """The first line, counted from 0."""
    count: int
    total: int
    """Lines of the whole text."""


def take_lines(text: str, start: int, count: int) -> LineRange:
    """Up to `count` lines from line `start` on, counted from 0; past the end there are none.

    Raises ValueError: a negative start or count.
    """
    if start < 0 or count < 0:
        raise ValueError("lines are counted from 0")
    lines = split_lines(text)
    taken = lines[start : start + count]
    return LineRange(text="".join(taken), start=start, count=len(taken), total=len(lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How large a text is."""

    bytes: int
    """In UTF-8."""
    characters: int
    words: int
    """Runs without white space."""
    lines: int
    """A last line without an end counts."""
    sha256: str
    """Of the UTF-8 bytes, in hex."""

    def as_json(self) -> JsonObject:
        """The members of an answer."""
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
