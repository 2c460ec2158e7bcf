"""Detects changes of a cache directory with one system call per answer. Built on `kit.watch`.

Changes that it cannot detect are listed in docs/CONTEXT.md.
"""

from __future__ import annotations

import threading
from pathlib import Path

from strictwire.packs.context.layout import DOCUMENTS
from strictwire.packs.kit.watch import Watch, identity


class CacheWatch:
    """Reports whether a cache directory or its documents changed since `begin`. Safe to call from any thread."""

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch or Watch()
        self._changed: set[Path] = set()
        self._identity: dict[Path, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def begin(self, path: Path) -> None:
        """Start from the current state. Call it before the first read, so that no change is missed.

        Raises OSError: the directory does not exist or cannot be read.
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
        """Return whether anything changed since `begin`. Also True if that is unknown or `begin` was not called."""
        with self._lock:
            self._drain()
            try:
                return path in self._changed or self._identity.get(path) != identity(path)
            except OSError:
                return True

    def end(self, path: Path) -> None:
        """Stop watching a directory."""
        with self._lock:
            self._watch.remove(path)
            self._identity.pop(path, None)
            self._changed.discard(path)

    def close(self) -> None:
        """Stop watching and release the kernel queue."""
        with self._lock:
            self._identity.clear()
            self._watch.close()

    def _drain(self) -> None:
        drained = self._watch.drain()
        if drained.overflow:
            self._changed.update(self._identity)
        for change in drained.changes:
            self._changed.update(path for path in (change.folder, change.folder.parent) if path in self._identity)
