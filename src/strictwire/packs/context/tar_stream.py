"""The decompressed bytes of a tar file, read forward and within a budget that the caller renews.

`tarfile` reads extended headers whole, and skips members by decompressing them. A small file can make either as large as its
author likes, so both are limited here, before `tarfile` has the bytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Final

_DECOMPRESSORS: Final[Mapping[bytes, Callable[[IO[bytes]], Any]]] = MappingProxyType(
    {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
)
"""First bytes of a compressed file to what decompresses it."""


class BadArchive(Exception):
    """The archive cannot be unpacked; the text says why."""


class TarStream(io.RawIOBase):
    """What `tarfile` reads. Only `read`, `seek` and `tell` are used by it."""

    def __init__(self, source: IO[bytes], *, limit: int) -> None:
        """`limit` is the most decompressed bytes of the whole file."""
        super().__init__()
        self._source = source
        self._limit = limit
        self._budget = 0

    def allow(self, size: int) -> None:
        """Allow reading this many bytes from now on."""
        self._budget = size

    def read(self, size: int = -1, /) -> bytes:
        """Read up to `size` bytes. Raises BadArchive: more than allowed, or the compressed data is damaged; OSError."""
        if not 0 <= size <= self._budget:
            raise BadArchive("its headers or members are larger than allowed")
        self._check_end(self.tell() + size)
        self._budget -= size
        with _damage_named():
            return self._source.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Skip to a later offset. Raises BadArchive: an earlier one, which would decompress the file again."""
        if whence != io.SEEK_SET or offset < self.tell():
            raise BadArchive("its members overlap")
        self._check_end(offset)
        with _damage_named():
            return self._source.seek(offset)

    def tell(self) -> int:
        """Return the offset in the decompressed bytes."""
        return self._source.tell()

    def seekable(self) -> bool:
        """Always true, forward."""
        return True

    def readable(self) -> bool:
        """Always true."""
        return True

    def _check_end(self, end: int) -> None:
        if end > self._limit:
            raise BadArchive(f"it has more than {self._limit} bytes")


@contextmanager
def open_tar_stream(archive: Path, *, limit: int) -> Iterator[TarStream]:
    """Open a tar file of any compression. Raises OSError."""
    with ExitStack() as stack:
        source: IO[bytes] = stack.enter_context(archive.open("rb"))
        head = source.read(max(map(len, _DECOMPRESSORS)))
        source.seek(0)
        for magic, decompress in _DECOMPRESSORS.items():
            if head.startswith(magic):
                source = stack.enter_context(decompress(source))
                break
        yield TarStream(source, limit=limit)


@contextmanager
def _damage_named() -> Iterator[None]:
    """Raise BadArchive for damaged data. gzip and bz2 raise an OSError without a number for it."""
    try:
        yield
    except OSError as exc:
        if exc.errno is not None:
            raise
        raise BadArchive("the file is not a readable archive") from exc
