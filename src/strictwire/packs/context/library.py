"""The caches below one root. Each generation is loaded and verified once and then served from memory.

A failure is not remembered: a repaired cache works on the next call. Safe to call from any thread.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strictwire.packs.context.index import Index, IndexBuilder
from strictwire.packs.context.load import open_cache
from strictwire.packs.context.parallel_load import load_documents
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.watch import StatWatch, Watch, open_watch

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
    watch: Watch | None = None


class Library:
    """Opens caches by name. `close` also closes the watch that was passed in."""

    def __init__(self, root: str, watch: Watch | None = None, *, capacity: int = MAX_CACHES) -> None:
        self.root = root
        self._watch = watch or open_watch()
        self._fallback_watch = StatWatch()
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
            if slot.generation is None or slot.watch is None or slot.watch.has_changed(path):
                slot.generation = None
                slot.generation = self._load(path, slot)
            return slot.generation

    def close(self) -> None:
        """Drop all caches and close the watches."""
        with self._lock:
            self._slots.clear()
            self._watch.close()
            self._fallback_watch.close()

    def _slot(self, path: Path) -> _Slot:
        with self._lock:
            slot = self._slots.setdefault(path, _Slot())
            self._slots.move_to_end(path)
            if len(self._slots) > self._capacity:
                oldest, _ = self._slots.popitem(last=False)
                self._watch.end(oldest)
                self._fallback_watch.end(oldest)
            return slot

    def _load(self, path: Path, slot: _Slot) -> Generation:
        """Load until the cache did not change during a load. Raises Unusable if the last attempt does."""
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            slot.watch = self._begin(path)
            try:
                generation = load_generation(path)
            except Unusable:
                if attempt == _MAX_ATTEMPTS or not self._has_changed(path, slot.watch):
                    raise
                continue
            if attempt == _MAX_ATTEMPTS or not self._has_changed(path, slot.watch):
                return generation
        raise AssertionError("the last attempt returns or raises")

    def _begin(self, path: Path) -> Watch:
        """Start a watch before reading. If the kernel has no watch left, compare file status instead."""
        for watch in (self._watch, self._fallback_watch):
            try:
                watch.begin(path)
            except OSError:
                continue
            return watch
        # Not even the file status is readable. The load then reports the reason, and nothing is kept.
        return self._fallback_watch

    @staticmethod
    def _has_changed(path: Path, watch: Watch) -> bool:
        return path.is_dir() and watch.has_changed(path)


def load_generation(path: Path) -> Generation:
    """Load, verify and index a cache. Raises Unusable."""
    builder = IndexBuilder()
    with open_cache(path) as (documents, entries):
        load_documents(documents, entries, builder)
    return Generation(cache_version=entries.cache_version, index=builder.finish())
