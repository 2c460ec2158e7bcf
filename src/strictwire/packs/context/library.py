"""The caches under one root, each loaded and verified once a generation and answered from memory.

A failure is not kept: a cache that was repaired answers on the next call. Threads may call anything here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strictwire.packs.context.index import Index, IndexBuilder
from strictwire.packs.context.load import open_cache
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.share import load_documents
from strictwire.packs.context.watch import CacheWatch

MAX_CACHES: Final = 16
"""Caches kept in memory; the one unused for longest makes room."""

_MOST_ATTEMPTS: Final = 4
"""Loads of a cache that changes while it is read. After that the last state read is answered, or its failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One state of a cache, whole and verified."""

    cache_version: str
    index: Index


@dataclass(slots=True)
class _Shelf:
    """The place of one cache: its lock keeps a second call from loading what the first is loading."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    generation: Generation | None = None


class Library:
    """Opens caches by name. The watch that was handed in is closed with it."""

    def __init__(self, root: str, watch: CacheWatch | None = None, *, capacity: int = MAX_CACHES) -> None:
        self.root = root
        self._watch = watch or CacheWatch()
        self._capacity = capacity
        self._shelves: OrderedDict[Path, _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, name: str) -> Generation:
        """The present generation of a cache. Raises Unusable."""
        return self.open_path(resolve_name(self.root, name))

    def open_path(self, path: Path) -> Generation:
        """The present generation of the cache in a resolved directory. Raises Unusable."""
        shelf = self._shelf(path)
        with shelf.lock:
            if shelf.generation is None or self._watch.has_changed(path):
                shelf.generation = None
                shelf.generation = self._load(path)
            return shelf.generation

    def close(self) -> None:
        """Forget every cache."""
        with self._lock:
            self._shelves.clear()
            self._watch.close()

    def _shelf(self, path: Path) -> _Shelf:
        with self._lock:
            shelf = self._shelves.setdefault(path, _Shelf())
            self._shelves.move_to_end(path)
            if len(self._shelves) > self._capacity:
                oldest, _ = self._shelves.popitem(last=False)
                self._watch.end(oldest)
            return shelf

    def _load(self, path: Path) -> Generation:
        """Read until a whole read saw no change. Raises Unusable as the last attempt found it."""
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            with suppress(OSError):  # a directory that cannot be watched cannot be read either, and reading gives the reason
                self._watch.begin(path)
            try:
                generation = load_generation(path)
            except Unusable:
                if attempt == _MOST_ATTEMPTS or not self._moved(path):
                    raise
                continue
            if attempt == _MOST_ATTEMPTS or not self._moved(path):
                return generation
        raise AssertionError("the last attempt returns or raises")

    def _moved(self, path: Path) -> bool:
        return path.is_dir() and self._watch.has_changed(path)


def load_generation(path: Path) -> Generation:
    """Read, verify and index a cache. Raises Unusable."""
    builder = IndexBuilder()
    with open_cache(path) as (documents, roster):
        load_documents(documents, roster, builder)
    return Generation(cache_version=roster.cache_version, index=builder.finish())
