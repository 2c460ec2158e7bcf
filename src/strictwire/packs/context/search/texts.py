"""Reads documents of a cache for an answer. Each is verified against the version that the index has for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.packs.context.files import open_directory
from strictwire.packs.context.layout import DOCUMENTS, ManifestEntry, file_of
from strictwire.packs.context.load import read_document
from strictwire.packs.context.search.index_file import IndexedDocument
from strictwire.packs.context.search.passages import Passage, split_passages

MAX_KEPT_CHARACTERS: Final = 16_000_000
"""Characters of recently read documents that are kept, so that similar questions do not read them again."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document that was read: its lines, and its passages by their first line."""

    lines: tuple[str, ...]
    passages: dict[int, Passage]
    size: int


class TextReader:
    """Reads and keeps documents. Safe to call from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], Text] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def read(self, cache: Path, document: IndexedDocument) -> Text:
        """Return a document. A kept one is returned although its file may have changed: its version is its content.

        Raises Unusable.
        """
        key = (document.version, document.kind, document.id)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        text = _read(cache, document)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = text
                self._size += text.size
            while self._size > MAX_KEPT_CHARACTERS and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].size
        return text


def _read(cache: Path, document: IndexedDocument) -> Text:
    with (
        open_directory(cache, rule="CACHE_EXISTS") as within,
        open_directory(DOCUMENTS, within=within, rule="DOCUMENT_EXISTS") as documents,
    ):
        content = read_document(documents, ManifestEntry(document.id, document.version, file_of(document.version))).content
    passages = split_passages(content, document.kind)
    return Text(tuple(content.split("\n")), {passage.first: passage for passage in passages}, len(content))
