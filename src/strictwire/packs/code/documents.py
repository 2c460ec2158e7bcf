"""Documents as the tools see them: text of bounded size, read through a jail, with lines and UTF-16 positions.

Positions are checked here, before an engine sees them: engines hang, crash or guess when a position is past the end.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.gate import Admitted
from strictwire.packs.kit.jail import Jail, RootRefused

CACHE_BYTES: Final = 32 * 1024 * 1024
"""Text kept for further calls on the same documents."""

_BREAK: Final = re.compile(r"\r\n|\r|\n")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_NUL_WINDOW: Final = 8_192
"""Characters that are searched for NUL. A file with one is binary, as for git."""


class Document:
    """One text. Lines end with LF, CRLF or CR; characters are UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _BREAK.finditer(self.text))]

    @property
    def line_count(self) -> int:
        """Lines, the empty one after the last line end included."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """A line without its end. Raises IndexError: past the end."""
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def check(self, position: JsonObject) -> None:
        """Raises Refused: NOT_FOUND, the position lies outside the text."""
        if position["line"] >= len(self._starts) or position["character"] > units(self.line(position["line"])):
            raise Refused(fail("NOT_FOUND"))

    def after(self, position: JsonObject, limit: int = 256) -> str:
        """The text that follows a position; empty past the end."""
        if position["line"] >= len(self._starts):
            return ""
        start = self._starts[position["line"]] + offset_of(self.line(position["line"]), position["character"])
        return self.text[start : start + limit]

    def word_at(self, position: JsonObject) -> tuple[str, int] | None:
        """The identifier at or just before a position, and the character it starts at."""
        line = self.line(position["line"])
        offset = offset_of(line, position["character"])
        touching = [found for found in _WORD.finditer(line) if found.start() <= offset <= found.end()]
        # Between two words the one that starts here is meant.
        return (touching[-1][0], units(line[: touching[-1].start()])) if touching else None

    def find_word(self, word: str, line: int) -> JsonObject | None:
        """The position of a whole word at or after the start of a line."""
        if line >= len(self._starts):
            return None
        found = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(self.text, self._starts[line])
        return None if found is None else self._position(found.start())

    def _position(self, offset: int) -> JsonObject:
        line = bisect_right(self._starts, offset) - 1
        return {"line": line, "character": units(self.text[self._starts[line] : offset])}


def units(text: str) -> int:
    """UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def offset_of(line: str, character: int) -> int:
    """The index in a line of a UTF-16 character; inside a surrogate pair, that of the pair."""
    if line.isascii():
        return character
    return len(line.encode("utf-16-le")[: character * 2].decode("utf-16-le", "ignore"))


class Documents:
    """Reads documents, and keeps their text for as long as the file is the same."""

    def __init__(self, *, max_bytes: int, cache_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._cache_bytes = cache_bytes
        self._kept: OrderedDict[str, tuple[tuple[int, ...], Document]] = OrderedDict()
        self._size = 0

    async def open(self, place: Admitted) -> Document:
        """The document at a place. Raises Refused: NOT_FOUND, it cannot be read, is too large or not UTF-8 text."""
        name = str(place.path)
        mark = _mark(name)
        kept = self._kept.get(name)
        if kept is not None and kept[0] == mark:
            self._kept.move_to_end(name)
            return kept[1]
        document = await asyncio.to_thread(self._read, place)
        # What changed while it was read is not kept: the mark would vouch for another text.
        if mark is not None and mark == _mark(name):
            self._keep(name, mark, document)
        return document

    def _read(self, place: Admitted) -> Document:
        try:
            with Jail(place.root) as jail:
                text = jail.read(place.relative, limit=self._max_bytes).decode()
        except (Refused, RootRefused, UnicodeDecodeError) as exc:
            raise Refused(fail("NOT_FOUND")) from exc
        if "\0" in text[:_NUL_WINDOW]:
            raise Refused(fail("NOT_FOUND"))
        return Document(text)

    def _keep(self, name: str, mark: tuple[int, ...], document: Document) -> None:
        self._drop(name)
        self._kept[name] = (mark, document)
        self._size += len(document.text)
        while self._size > self._cache_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        if name in self._kept:
            self._size -= len(self._kept.pop(name)[1].text)


def _mark(path: str) -> tuple[int, ...] | None:
    """What changes whenever the content may: identity, size, and both times, for `touch` can set back only one."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
