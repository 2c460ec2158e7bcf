"""Contents that plans replaced and wrote, stored by hash in the state folder. `strictwire plan diff` shows them.

A convenience, not evidence. A content is not kept if it is too large, if the disk is full, or if newer ones need the space;
the diff then says that it is missing. Every content that is returned has been checked against its hash.
"""

from __future__ import annotations

import os
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from strictwire.packs.workspace.content import sha256_of

MAX_KEPT: Final = 4 * 1024 * 1024
"""Largest content that is kept, in bytes. A diff of a larger file is too long to read."""


class Archive:
    """See the module docstring. `limit` is the total size in bytes; 0 keeps nothing."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._mutex = threading.Lock()
        if limit:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._size = sum(size for _, size, _ in self._listed())

    def put(self, data: bytes | None) -> None:
        """Keep a content if possible. Does nothing if it is too large or the disk fails."""
        if data is None or not self._limit or len(data) > min(MAX_KEPT, self._limit):
            return
        path = self._path(sha256_of(data))
        with suppress(OSError), self._mutex:
            if path.exists():
                os.utime(path)
                return
            path.parent.mkdir(exist_ok=True, mode=0o700)
            draft = path.with_name(f".{secrets.token_hex(8)}")
            draft.write_bytes(data)
            draft.rename(path)
            self._size += len(data)
            if self._size > self._limit:
                self._drop_oldest()

    def maybe_get(self, sha256: str) -> bytes | None:
        """Return the content with this hash; None if it is not kept or has been damaged."""
        try:
            data = self._path(sha256).read_bytes()
        except OSError:
            return None
        return data if sha256_of(data) == sha256 else None

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256

    def _listed(self) -> list[tuple[float, int, Path]]:
        """Return the time of the last use, the size and the path of each content."""
        found = []
        for path in self._folder.glob("??/*"):
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        return found

    def _drop_oldest(self) -> None:
        """Delete the least recently used contents until nine tenths of the limit are used, so that it happens seldom."""
        kept = sorted(self._listed())
        self._size = sum(size for _, size, _ in kept)
        for _, size, path in kept:
            if self._size <= self._limit * 9 // 10:
                return
            path.unlink(missing_ok=True)
            self._size -= size
