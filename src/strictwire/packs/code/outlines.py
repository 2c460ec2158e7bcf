"""What files define, by tree-sitter, and how widely names are used, by the word index. Kept from call to call."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from strictwire.canon.json import parse, render
from strictwire.packs.code.engine import TREE_SITTER, EngineIdentity, FileSymbols
from strictwire.packs.code.files import Files
from strictwire.packs.code.languages import maybe_language
from strictwire.packs.code.lines import normalise, read_source
from strictwire.packs.code.syntax.grammar import grammar_version, maybe_grammar
from strictwire.packs.code.syntax.symbols import document_symbols
from strictwire.packs.code.words import Words

MAX_KEPT: Final = 16 * 1024 * 1024
"""Bytes of symbols, as JSON. Django's 2,818 files have 9 MB."""


class SyntaxOutlines:
    """See engine.Outlines. Files are read and parsed in another thread."""

    def __init__(self, files: Files, words: Words) -> None:
        self._files = files
        self._feed = files.subscribe()
        self._words = words
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = asyncio.Lock()

    async def symbols(self, paths: Sequence[Path]) -> tuple[FileSymbols, ...]:
        """See Outlines."""
        async with self._lock:
            self._files.refresh()
            for path in self._feed.take():
                self._drop(path)
            return await asyncio.to_thread(self._symbols, [str(path) for path in paths])

    async def counts(self, words: Collection[str], *, language: str) -> dict[str, int]:
        """See Outlines."""
        return await self._words.counts(words, language=language)

    def _symbols(self, paths: list[str]) -> tuple[FileSymbols, ...]:
        found = [self._symbols_of(path) for path in paths]
        return tuple(each for each in found if each is not None)

    def _symbols_of(self, path: str) -> FileSymbols | None:
        grammar, language = maybe_grammar(path), maybe_language(path)
        if grammar is None or language is None:
            return None
        if path in self._kept:
            self._kept.move_to_end(path)
        else:
            try:
                self._keep(path, render(document_symbols(grammar, normalise(read_source(path)))))
            except OSError:
                return None
            time.sleep(0)  # hands the interpreter lock to the event loop
        identity = EngineIdentity(name=TREE_SITTER, version=grammar_version(grammar), language=language)
        return FileSymbols(path=Path(path), engine=identity, symbols=parse(self._kept[path]))

    def _keep(self, path: str, raw: bytes) -> None:
        self._kept[path] = raw
        self._size += len(raw)
        while self._size > MAX_KEPT and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, path: str) -> None:
        self._size -= len(self._kept.pop(path, b""))
