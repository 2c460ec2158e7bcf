"""The symbols of files by syntax, kept from call to call as JSON, which takes a tenth of the memory of its objects."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from strictwire.canon.json import JsonObject, Limits, parse, render
from strictwire.packs.code.files import Files
from strictwire.packs.code.lines import NotSource, normalise, read_source
from strictwire.packs.code.syntax.grammar import maybe_grammar
from strictwire.packs.code.syntax.symbols import document_symbols

MAX_KEPT: Final = 16 * 1024 * 1024
"""Bytes of symbols. Django's 2,818 files have 9 MB."""

T = TypeVar("T")


class _Kept(NamedTuple):
    symbols: bytes
    names: bytes
    """Every name in lower case, one a line: a search for a name parses only the files that have it."""

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.symbols) + len(self.names)


class KeptSymbols:
    """Reads and parses files in another thread, each once until it changes. One call at a time."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._feed = files.subscribe()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._unread: set[str] = set()
        self._lock = asyncio.Lock()

    async def read(self, paths: Sequence[str]) -> dict[str, list[JsonObject]]:
        """Path to symbols, for those of the files that have a grammar and can be read."""
        return await self._run(lambda: self._read(paths, b""))

    async def read_naming(self, paths: Sequence[str], text: str) -> dict[str, list[JsonObject]]:
        """The same, for files in which a name contains a text, whatever its case."""
        return await self._run(lambda: self._read(paths, text.lower().encode()))

    def count_unread(self, paths: Sequence[str]) -> int:
        """How many of the files were there in their last read and could not be read, or are too large."""
        return len(self._unread.intersection(paths))

    async def _run(self, work: Callable[[], T]) -> T:
        async with self._lock:
            self._files.refresh()
            for path in self._feed.take():
                self._drop(path)
            return await asyncio.to_thread(work)

    def _read(self, paths: Sequence[str], text: bytes) -> dict[str, list[JsonObject]]:
        found = {path: self._maybe_kept(path, text) for path in paths}
        return {path: _parse(kept.symbols) for path, kept in found.items() if kept is not None and text in kept.names}

    def _maybe_kept(self, path: str, text: bytes) -> _Kept | None:
        """The symbols of a file, which is not parsed if it does not hold the text at all."""
        if path in self._kept:
            self._kept.move_to_end(path)
            return self._kept[path]
        grammar = maybe_grammar(path)
        try:
            source = normalise(read_source(path)) if grammar is not None else b""
        except FileNotFoundError:  # deleted since it was listed
            return None
        except OSError as exc:
            if not isinstance(exc, NotSource) or exc.too_large:  # a binary file has no symbols to miss
                self._unread.add(path)
            return None
        self._unread.discard(path)
        if grammar is None or (text.isascii() and text not in source.lower()):
            return None
        symbols = document_symbols(grammar, source)
        kept = _Kept(render(symbols), "\n".join(_names(symbols)).lower().encode())
        self._keep(path, kept)
        time.sleep(0)  # hands the interpreter lock to the event loop
        return kept

    def _keep(self, path: str, kept: _Kept) -> None:
        self._kept[path] = kept
        self._size += kept.size
        while self._size > MAX_KEPT and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, path: str) -> None:
        kept = self._kept.pop(path, None)
        self._size -= kept.size if kept is not None else 0


def _names(symbols: list[JsonObject]) -> Iterator[str]:
    for symbol in symbols:
        yield symbol["name"]
        yield from _names(symbol["children"])


def _parse(raw: bytes) -> list[JsonObject]:
    found = parse(raw, Limits(size=len(raw)))
    return found if isinstance(found, list) else []
