"""The stored embeddings of one cache: one file that is memory-mapped, versioned and checked. Reading and writing it.

    magic, length and CRC of the header, header (JSON), padded to 1,024 bytes | matrix (float32) | keys

Row n is the embedding of passage n of the search index. Its key is a digest of the text, so that unchanged passages keep
their embeddings. The CRC of matrix and keys is checked when the file is opened. Numbers have the byte order of the machine.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.packs.context.search.index_file import ANALYSIS, IndexIdentity
from strictwire.packs.context.search.semantic.model import Vector

FORMAT: Final = 1
"""Version of the file format and of the text that is embedded for a passage."""

_MAGIC: Final = b"STRWCTXV"
_PREFIX: Final = struct.Struct("<8sII")
_HEADER: Final = 1024
_KEY: Final = 16
_FLOAT: Final = 4


class DamagedVectors(Exception):
    """The file does not contain embeddings of this version, or its bytes have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIdentity:
    """What embeddings were made from."""

    model: str
    index: IndexIdentity | None
    """None: the work was interrupted, and rows are missing."""


class Vectors:
    """The open embeddings of a cache."""

    def __init__(self, raw: memoryview) -> None:
        """Check the header and the CRC. Raises DamagedVectors."""
        header = _read_header(raw)
        try:
            rows, dimensions, expected = int(header["rows"]), int(header["dimensions"]), int(header["sum"])
            self.identity = VectorIdentity(model=str(header["model"]), index=_read_identity(header["index"]))
        except (KeyError, TypeError, ValueError) as exc:
            raise DamagedVectors from exc
        body, size = raw[_HEADER:], rows * dimensions * _FLOAT
        if min(rows, dimensions) < 0 or len(body) != size + rows * _KEY or zlib.crc32(body) != expected:
            raise DamagedVectors
        self.matrix = np.frombuffer(body[:size], np.float32).reshape(rows, dimensions)
        self._keys = body[size:]

    def rows_by_key(self) -> dict[bytes, int]:
        """Return the row of each text."""
        return {bytes(self._keys[row * _KEY : (row + 1) * _KEY]): row for row in range(len(self.matrix))}


class VectorWriter:
    """Writes a file row by row, so that memory does not grow with it. The header is written last."""

    def __init__(self, handle: BinaryIO, dimensions: int) -> None:
        self._handle = handle
        self._dimensions = dimensions
        self._keys: list[bytes] = []
        self._sum = 0
        handle.write(bytes(_HEADER))

    def add(self, key: bytes, vector: Vector) -> None:
        """Add the next row. Raises OSError."""
        raw = vector.tobytes()
        self._handle.write(raw)
        self._sum = zlib.crc32(raw, self._sum)
        self._keys.append(key)

    def finish(self, identity: VectorIdentity) -> None:
        """Write keys and header. Raises OSError."""
        keys = b"".join(self._keys)
        self._handle.write(keys)
        header = render(
            {
                "format": FORMAT,
                "analysis": ANALYSIS,
                "order": sys.byteorder,
                "model": identity.model,
                "index": _identity_object(identity.index),
                "rows": len(self._keys),
                "dimensions": self._dimensions,
                "sum": zlib.crc32(keys, self._sum),
            }
        )
        self._handle.seek(0)
        self._handle.write(_PREFIX.pack(_MAGIC, len(header), zlib.crc32(header)) + header)


def open_vectors(file: Path) -> Vectors:
    """Map a file into memory. Raises OSError, DamagedVectors."""
    with file.open("rb") as handle:
        try:
            mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as exc:  # an empty file cannot be mapped
            raise DamagedVectors from exc
    return Vectors(memoryview(mapped))


def text_key(text: str) -> bytes:
    """Return the key of a text."""
    return hashlib.blake2b(text.encode(), digest_size=_KEY).digest()


def _read_header(raw: memoryview) -> JsonObject:
    if len(raw) < _HEADER:
        raise DamagedVectors
    magic, size, expected = _PREFIX.unpack_from(raw)
    text = bytes(raw[_PREFIX.size : min(_PREFIX.size + size, _HEADER)])
    if magic != _MAGIC or len(text) != size or zlib.crc32(text) != expected:
        raise DamagedVectors
    try:
        header = parse_object(text)
    except NotStrict as exc:
        raise DamagedVectors from exc
    if [header.get(name) for name in ("format", "analysis", "order")] != [FORMAT, ANALYSIS, sys.byteorder]:
        raise DamagedVectors
    return header


def _read_identity(value: JsonObject | None) -> IndexIdentity | None:
    return None if value is None else IndexIdentity(cache_version=str(value["cache_version"]), stamp=tuple(value["stamp"]))


def _identity_object(identity: IndexIdentity | None) -> JsonObject | None:
    return None if identity is None else {"cache_version": identity.cache_version, "stamp": list(identity.stamp)}
