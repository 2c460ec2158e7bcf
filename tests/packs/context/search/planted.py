"""Index files with valid checksums and contents that nobody would write."""

from __future__ import annotations

import zlib
from array import array

from strictwire.canon.json import render
from strictwire.packs.context.search import index_file


def plant(raw: bytes, section: str, at: int, value: int) -> bytes:
    """Return the file with another value of one item, and with the checksums that fit."""
    header, parts = _split(raw)
    parts[section][at] = value
    _sum_up_postings(parts)
    return _join(header, parts)


def plant_kinds(raw: bytes, kinds: list[str]) -> bytes:
    """Return the file with other names of kinds."""
    header, parts = _split(raw)
    return _join(header | {"kinds": kinds}, parts)


def shorten(raw: bytes, section: str) -> bytes:
    """Return the file without the last item of a section."""
    header, parts = _split(raw)
    parts[section].pop()
    return _join(header, parts)


def items(raw: bytes) -> dict[str, int]:
    """Return the sections with the number of their items."""
    return {name: len(part) for name, part in _split(raw)[1].items()}


def _split(raw: bytes) -> tuple[dict[str, object], dict[str, array[int]]]:
    header, start = index_file._read_header(memoryview(raw))
    parts: dict[str, array[int]] = {}
    for name, code in index_file._TYPES.items():
        offset, size, _ = header["sections"][name]
        parts[name] = array(code, raw[start + offset : start + offset + size])
    return header, parts


def _sum_up_postings(parts: dict[str, array[int]]) -> None:
    first = 0
    for term, last in enumerate(parts["posting_ends"]):
        sums = zlib.crc32(parts["impacts"][first:last], zlib.crc32(parts["numbers"][first:last]))
        parts["posting_sums"][term] = sums
        first = last


def _join(header: dict[str, object], parts: dict[str, array[int]]) -> bytes:
    sections: dict[str, list[int]] = {}
    body = b""
    for name, part in parts.items():
        data = part.tobytes()
        sections[name] = [len(body), len(data), zlib.crc32(data)]
        body += data.ljust(index_file._aligned(len(data)), b"\0")
    text = render({**header, "sections": sections})  # type: ignore[dict-item]
    prefix = index_file._PREFIX.pack(index_file._MAGIC, len(text), zlib.crc32(text)) + text
    return prefix.ljust(index_file._aligned(len(prefix)), b"\0") + body
