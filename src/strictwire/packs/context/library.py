"""The caches below one root. Each generation is loaded and verified once and then served from memory.

A failure is not remembered: a repaired cache works on the next call. Safe to call from any thread.
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
from strictwire.packs.context.parallel_load import load_documents
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.watch import CacheWatch

MAX_CACHES: Final = 16
"""Most caches kept in memory. The least recently used one is dropped."""

_MAX_ATTEMPTS: Final = 4
"""Most loads of a cache that keeps changing while it is read. The result or failure of the last load is then returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One consistent, verified state of a cache."""

    cache_version: str
    index: Index


@dataclass(slots=True)
class _Slot:
    """One cache in memory. The lock prevents two calls from loading the same cache at the same time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    generation: Generation | None = None


class Library:
    """Opens caches by name. `close` also closes the watch that was passed in."""

    def __init__(self, root: str, watch: CacheWatch | None = None, *, capacity: int = MAX_CACHES) -> None:
        self.root = root
        self._watch = watch or CacheWatch()
        self._capacity = capacity
        self._slots: OrderedDict[Path, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, name: str) -> Generation:
        """Return the current generation of a cache. Raises Unusable."""
        return self.open_path(resolve_name(self.root, name))

    def open_path(self, path: Path) -> Generation:
        """Return the current generation of the cache in a resolved directory. Raises Unusable."""
        slot = self._slot(path)
        with slot.lock:
            if slot.generation is None or self._watch.has_changed(path):
                slot.generation = None
                slot.generation = self._load(path)
            return slot.generation

    def close(self) -> None:
        """Drop all caches and close the watch."""
        with self._lock:
            self._slots.clear()
            self._watch.close()

    def _slot(self, path: Path) -> _Slot:
        with self._lock:
            slot = self._slots.setdefault(path, _Slot())
            self._slots.move_to_end(path)
            if len(self._slots) > self._capacity:
                oldest, _ = self._slots.popitem(last=False)
                self._watch.end(oldest)
            return slot

    def _load(self, path: Path) -> Generation:
        """Load until the cache did not change during a load. Raises Unusable if the last attempt does."""
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            with suppress(OSError):  # a directory that cannot be watched cannot be read either; the load reports the reason
                self._watch.begin(path)
            try:
                generation = load_generation(path)
            except Unusable:
                if attempt == _MAX_ATTEMPTS or not self._has_changed(path):
                    raise
                continue
            if attempt == _MAX_ATTEMPTS or not self._has_changed(path):
                return generation
        raise AssertionError("the last attempt returns or raises")

    def _has_changed(self, path: Path) -> bool:
        return path.is_dir() and self._watch.has_changed(path)


def load_generation(path: Path) -> Generation:
    """Load, verify and index a cache. Raises Unusable."""
    builder = IndexBuilder()
    with open_cache(path) as (documents, entries):
        load_documents(documents, entries, builder)
    return Generation(cache_version=entries.cache_version, index=builder.finish())
