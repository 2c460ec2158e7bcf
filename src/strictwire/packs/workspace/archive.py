"""The bytes that plans replaced and wrote, by their hash, in the state folder: what `strictwire plan diff` shows.

A convenience, not evidence: what cannot be kept, because it is too large, the disk is full or others are newer, is missing
later and told as such. Whatever is given back has the hash it was asked for by.
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
"""Bytes of one file: a diff of more is for no reader."""


class Archive:
    """See the module. `limit` is for all bytes together; 0 keeps nothing."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._mutex = threading.Lock()
        if limit:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._size = sum(size for _, size, _ in self._listed())

    def put(self, data: bytes | None) -> None:
        """Keep some bytes, if they can be kept."""
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
        """The bytes with this hash; None if they are not here, or are not those any more."""
        try:
            data = self._path(sha256).read_bytes()
        except OSError:
            return None
        return data if sha256_of(data) == sha256 else None

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256

    def _listed(self) -> list[tuple[float, int, Path]]:
        """Time of last use, size, path."""
        found = []
        for path in self._folder.glob("??/*"):
            with suppress(OSError):
                look = path.stat()
                found.append((look.st_mtime, look.st_size, path))
        return found

    def _drop_oldest(self) -> None:
        """Down to nine tenths, so that it is not done for every change."""
        kept = sorted(self._listed())
        self._size = sum(size for _, size, _ in kept)
        for _, size, path in kept:
            if self._size <= self._limit * 9 // 10:
                return
            path.unlink(missing_ok=True)
            self._size -= size
