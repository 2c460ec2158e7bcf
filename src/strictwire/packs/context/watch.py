"""Noticing that the directory of a cache changed, at the price of one system call an answer. Built on `kit.watch`.

What it cannot see is listed in docs/CONTEXT.md.
"""

from __future__ import annotations

import threading
from pathlib import Path

from strictwire.packs.context.layout import DOCUMENTS
from strictwire.packs.kit.watch import Watch, identity


class CacheWatch:
    """Tells whether the directory of a cache, or its documents, changed since `begin`. Threads may call anything here."""

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch or Watch()
        self._changed: set[Path] = set()
        self._identity: dict[Path, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def begin(self, path: Path) -> None:
        """Start again from the present state. Call it before the first read, so that no change falls in between.

        Raises OSError: the directory is not there or cannot be read.
        """
        with self._lock:
            self._drain()
            self._identity.pop(path, None)
            self._watch.remove(path)
            self._watch.add(path)
            if (path / DOCUMENTS).is_dir():
                self._watch.add(path / DOCUMENTS)
            self._identity[path] = identity(path)
            self._changed.discard(path)

    def has_changed(self, path: Path) -> bool:
        """Whether anything changed since. True also if that is not known, or nothing was begun."""
        with self._lock:
            self._drain()
            try:
                return path in self._changed or self._identity.get(path) != identity(path)
            except OSError:
                return True

    def end(self, path: Path) -> None:
        """Forget the path."""
        with self._lock:
            self._watch.remove(path)
            self._identity.pop(path, None)
            self._changed.discard(path)

    def close(self) -> None:
        """Forget everything and free what is held."""
        with self._lock:
            self._identity.clear()
            self._watch.close()

    def _drain(self) -> None:
        drained = self._watch.drain()
        if drained.overflow:
            self._changed.update(self._identity)
        for change in drained.changes:
            self._changed.update(path for path in (change.folder, change.folder.parent) if path in self._identity)
