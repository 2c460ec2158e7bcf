"""The word index: which files of the roots mention a word, and where.

It is the check on the engines, so it shares nothing with them: it reads files itself. Each file is kept as the sorted
CRC-32 numbers of its distinct words, four bytes a word: 4 MB for the 36 MB of Django's sources. A number that two words
share costs one read in vain. Places are found by reading the files that have the number.
"""

from __future__ import annotations

import asyncio
import re
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final
from zlib import crc32

from strictwire.packs.code.engine import Mention, Mentions
from strictwire.packs.code.files import FileChange, Files
from strictwire.packs.code.languages import WORD_CHARACTERS, maybe_language
from strictwire.packs.code.lines import NotSource, decode, locate, neighbours, normalise, read_source

LIMIT: Final = 20_000
"""Mentions of one word that are returned; the cap on references is the same."""

_WORD: Final = re.compile(r"\w+")

_SPACED: Final = bytes(code if code >= 0x80 or re.match(rb"\w", bytes([code])) else 0x20 for code in range(256))
"""Turns every ASCII character that is no part of a word into a space."""

_CHUNK: Final = 128
"""Files between two looks at whether to wait: about 25 ms of work."""

_PAUSE_SECONDS: Final = 0.02

_BATCH: Final = 16
"""Files between two pauses of the interpreter lock: about 3 ms of work."""


class Words:
    """See engine.WordIndex. Files are read in another thread; one call at a time reads or writes the index."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._feed = files.subscribe()
        self._numbers: dict[str, array[int]] = {}
        self._gaps: set[str] = set()
        self._stale: dict[str, FileChange] = dict.fromkeys(files.paths, FileChange.CREATED)
        self._lock = asyncio.Lock()

    async def mentions(self, word: str, *, language: str | None = None, limit: int = LIMIT) -> Mentions:
        """See WordIndex. The kind of a mention is not looked at: each is CODE."""
        async with self._lock:
            self._take_changes()
            return await asyncio.to_thread(self._find, word, language, limit)

    async def files(self) -> tuple[Path, ...]:
        """See WordIndex."""
        self._files.refresh()
        return tuple(map(Path, self._files.paths))

    async def counts(self, words: Collection[str], *, language: str) -> dict[str, int]:
        """How many files of a language mention each word. Words that share a number are counted together, which is rare."""
        async with self._lock:
            self._take_changes()
            return await asyncio.to_thread(self._count, words, language)

    async def update(self, wait_while: Callable[[], bool] = lambda: False) -> None:
        """Read every file that is new or changed, so that the next call need not.

        Nothing is read while `wait_while` is true: an engine that works needs the processors more.
        """
        async with self._lock:
            self._take_changes()
        while self._stale:
            if wait_while():
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            async with self._lock:
                await asyncio.to_thread(self._update, _CHUNK)

    def gaps(self, language: str) -> int:
        """Source files of a language that are not indexed: too large, or not readable. More than 0 is never complete."""
        return sum(maybe_language(path) == language for path in self._gaps) + self._files.capped

    def _take_changes(self) -> None:
        self._files.refresh()
        self._stale.update(self._feed.take())

    def _update(self, most: int | None = None) -> None:
        for count, (path, change) in enumerate(list(self._stale.items())[:most]):
            self._numbers.pop(path, None)
            self._gaps.discard(path)
            if change is not FileChange.DELETED:
                self._read(path)
            del self._stale[path]
            if count % _BATCH == 0:
                time.sleep(0)  # hands the interpreter lock to the event loop

    def _read(self, path: str) -> None:
        try:
            raw = read_source(path)
        except FileNotFoundError:
            return
        except NotSource as exc:
            if exc.too_large:
                self._gaps.add(path)
            return
        except OSError:
            self._gaps.add(path)
            return
        self._numbers[path] = array("I", sorted(set(map(crc32, _words(raw)))))

    def _find(self, word: str, language: str | None, limit: int) -> Mentions:
        self._update()
        found: list[Mention] = []
        for path in self._candidates(word):
            if language is not None and maybe_language(path) != language:
                continue
            found.extend(_mentions_in(path, word))
            if len(found) > limit:
                return Mentions(items=tuple(found[:limit]), capped=True)
        return Mentions(items=tuple(found))

    def _count(self, words: Collection[str], language: str) -> dict[str, int]:
        self._update()
        counts = dict.fromkeys((crc32(word.encode()) for word in words), 0)
        for path, numbers in self._numbers.items():
            for number in counts.keys() & numbers if maybe_language(path) == language else ():
                counts[number] += 1
        return {word: counts[crc32(word.encode())] for word in words}

    def _candidates(self, word: str) -> list[str]:
        numbers = [crc32(part.encode()) for part in _WORD.findall(word)]
        if not numbers:
            return []
        return sorted(path for path, known in self._numbers.items() if all(_holds(known, number) for number in numbers))


def _words(raw: bytes) -> set[bytes]:
    """The distinct words, in UTF-8. Splitting at ASCII first is three times as fast as the pattern on the whole text."""
    pieces = set(raw.translate(_SPACED).split())
    if raw.isascii():
        return pieces
    mixed = {piece for piece in pieces if not piece.isascii()}
    return (pieces - mixed) | {word.encode() for word in _WORD.findall(decode(b" ".join(mixed)))}


def _holds(numbers: array[int], number: int) -> bool:
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def _mentions_in(path: str, word: str) -> Iterator[Mention]:
    try:
        raw = normalise(read_source(path))
    except OSError:
        return  # it changed since it was indexed: the next call sees that
    yield from locate(Path(path), raw, find_words(raw, word, maybe_language(path)))


def find_words(raw: bytes, word: str, language: str | None) -> Iterator[tuple[int, int]]:
    """Byte spans of a word as a whole, by what an identifier is made of in the language."""
    encoded = word.encode()
    inner = re.compile(rf"[\w{re.escape(WORD_CHARACTERS.get(language or '', ''))}]")
    start = raw.find(encoded)
    while start >= 0:
        end = start + len(encoded)
        before, after = neighbours(raw, start, end)
        if not inner.match(before) and not inner.match(after):
            yield start, end
        start = raw.find(encoded, end)
