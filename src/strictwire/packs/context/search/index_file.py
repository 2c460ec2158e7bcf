"""The stored search index of one cache: one file that is memory-mapped, versioned and checked. Reading and writing it.

    magic, length and CRC of the header | header (JSON) | sections

Every section has a CRC, which is checked when the file is opened. The postings are checked term by term on first use, so
that opening does not read them. All numbers have the byte order of the machine; a file of another machine is outdated.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.packs.context.layout import HASH_PREFIX

FORMAT: Final = 1
"""Version of the file format."""

ANALYSIS: Final = 2
"""Version of terms, passages and impacts. A change of any of them must increase it: older files are then rebuilt."""

_MAGIC: Final = b"STRWCTXI"
_PREFIX: Final = struct.Struct("<8sII")
_MAX_HEADER: Final = 1 << 20
_ALIGN: Final = 8
_DIGEST: Final = 32

_Code: TypeAlias = Literal["B", "H", "I", "Q"]

_TYPES: Final[Mapping[str, _Code]] = {
    "ids": "B",
    "id_ends": "Q",
    "sources": "B",
    "source_ends": "Q",
    "kinds": "B",
    "versions": "B",
    "passage_ends": "I",
    "firsts": "I",
    "lasts": "I",
    "terms": "B",
    "term_ends": "Q",
    "posting_ends": "Q",
    "posting_sums": "I",
    "numbers": "I",
    "impacts": "H",
}
"""Section to the type of its items. `*_ends` hold the end of each item; an item starts where the previous one ends."""

_SAME_LENGTH: Final = (
    ("id_ends", "source_ends", "kinds", "passage_ends"),
    ("firsts", "lasts"),
    ("term_ends", "posting_ends", "posting_sums"),
    ("numbers", "impacts"),
)
"""Sections with one item for each document, passage, term and posting."""

_ENDS_OF: Final[Mapping[str, str]] = {
    "id_ends": "ids",
    "source_ends": "sources",
    "passage_ends": "firsts",
    "term_ends": "terms",
    "posting_ends": "numbers",
}

_POSTINGS: Final = frozenset({"numbers", "impacts"})
"""Sections that are checked term by term."""

Stamp: TypeAlias = tuple[int, int, int, int]
"""Inode, size, modification time and change time of a manifest."""


class DamagedIndex(Exception):
    """The file is not an index of this version, or its bytes have changed."""


class IndexedDocument(NamedTuple):
    """A document as the index knows it."""

    id: str
    source: str
    kind: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexIdentity:
    """The state of the cache that an index was made from."""

    cache_version: str
    stamp: Stamp


class SearchIndex:
    """An open index. Documents and passages are numbered in ascending order of document id and line."""

    def __init__(self, raw: memoryview) -> None:
        """Check the header and every section except the postings. Raises DamagedIndex."""
        header, start = _read_header(raw)
        try:
            self.identity = IndexIdentity(cache_version=str(header["cache_version"]), stamp=tuple(header["stamp"]))
            self._kinds = [str(kind) for kind in header["kinds"]]
            self._parts = {name: _section(raw, start, name, *header["sections"][name]) for name in _TYPES}
        except (KeyError, TypeError, ValueError) as exc:
            raise DamagedIndex from exc
        _check_shape(self._parts, kinds=len(self._kinds))
        self._checked: set[int] = set()

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self._parts["id_ends"])

    @property
    def passages(self) -> int:
        """The number of passages."""
        return len(self._parts["firsts"])

    @property
    def terms(self) -> int:
        """The number of different terms."""
        return len(self._parts["term_ends"])

    def document(self, number: int) -> IndexedDocument:
        """Return a document. Raises DamagedIndex."""
        name = self._text("ids", "id_ends", number)
        digest = bytes(self._parts["versions"][number * _DIGEST : (number + 1) * _DIGEST])
        source = self._text("sources", "source_ends", number) or name
        return IndexedDocument(name, source, self._kinds[self._parts["kinds"][number]], HASH_PREFIX + digest.hex())

    def find_document(self, name: str) -> int | None:
        """Return the number of the document with this id, or None."""
        return self._find("ids", "id_ends", name.encode())

    def document_of(self, passage: int) -> int:
        """Return the number of the document that contains a passage."""
        return bisect_right(self._parts["passage_ends"], passage)

    def passages_of(self, document: int) -> range:
        """Return the numbers of the passages of a document."""
        ends = self._parts["passage_ends"]
        return range(ends[document - 1] if document else 0, ends[document])

    def lines(self, passage: int) -> tuple[int, int]:
        """Return the first line of a passage and the line after its last one, counted from 0."""
        return self._parts["firsts"][passage], self._parts["lasts"][passage]

    def term(self, number: int) -> str:
        """Return a term by its number. Raises DamagedIndex."""
        return self._text("terms", "term_ends", number)

    def find_term(self, term: str) -> int | None:
        """Return the number of a term, or None if no passage contains it."""
        return self._find("terms", "term_ends", term.encode())

    def passages_with(self, term: int) -> int:
        """Return the number of passages that contain a term."""
        first, last = self._posting_range(term)
        return last - first

    def postings(self, term: int) -> tuple[memoryview, memoryview]:
        """Return the passages that contain a term, in ascending order, and its impact in each. Raises DamagedIndex."""
        first, last = self._posting_range(term)
        numbers, impacts = self._parts["numbers"][first:last], self._parts["impacts"][first:last]
        if term not in self._checked:
            is_intact = zlib.crc32(impacts, zlib.crc32(numbers)) == self._parts["posting_sums"][term]
            if not is_intact or max(numbers, default=-1) >= self.passages:
                raise DamagedIndex
            self._checked.add(term)
        return numbers, impacts

    def _posting_range(self, term: int) -> tuple[int, int]:
        ends = self._parts["posting_ends"]
        return ends[term - 1] if term else 0, ends[term]

    def _text(self, section: str, ends_section: str, number: int) -> str:
        ends = self._parts[ends_section]
        try:
            return str(self._parts[section][ends[number - 1] if number else 0 : ends[number]], "utf-8")
        except UnicodeDecodeError as exc:
            raise DamagedIndex from exc

    def _find(self, section: str, ends_section: str, wanted: bytes) -> int | None:
        blob, ends = self._parts[section], self._parts[ends_section]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            found = bytes(blob[ends[middle - 1] if middle else 0 : ends[middle]])
            if found == wanted:
                return middle
            if found < wanted:
                low = middle + 1
            else:
                high = middle
        return None


def _read_header(raw: memoryview) -> tuple[JsonObject, int]:
    """Return the header and the offset of the first section. Raises DamagedIndex."""
    if len(raw) < _PREFIX.size:
        raise DamagedIndex
    magic, size, expected = _PREFIX.unpack_from(raw)
    text = bytes(raw[_PREFIX.size : _PREFIX.size + min(size, _MAX_HEADER)])
    if magic != _MAGIC or len(text) != size or zlib.crc32(text) != expected:
        raise DamagedIndex
    try:
        header = parse_object(text)
    except NotStrict as exc:
        raise DamagedIndex from exc
    if [header.get(name) for name in ("format", "analysis", "order")] != [FORMAT, ANALYSIS, sys.byteorder]:
        raise DamagedIndex
    return header, _aligned(_PREFIX.size + size)


def _section(raw: memoryview, start: int, name: str, offset: int, size: int, expected: int) -> memoryview:
    part = raw[start + offset : start + offset + size]
    if len(part) != size or (name not in _POSTINGS and zlib.crc32(part) != expected):
        raise DamagedIndex
    return part.cast(_TYPES[name])


def _check_shape(parts: Mapping[str, memoryview], *, kinds: int) -> None:
    """Raises DamagedIndex if the sections do not fit together. Anyone can compute a CRC, so a file with the right ones may
    still refer to items that do not exist."""
    fits = (
        all(len({len(parts[name]) for name in names}) == 1 for names in _SAME_LENGTH)
        and len(parts["versions"]) == _DIGEST * len(parts["id_ends"])
        and max(parts["kinds"], default=-1) < kinds
        and all(_is_partition(parts[ends].tolist(), len(parts[items])) for ends, items in _ENDS_OF.items())
    )
    if not fits:
        raise DamagedIndex


def _is_partition(ends: list[int], size: int) -> bool:
    """Return whether the ends ascend to the size. Sorting a sorted list is one pass in C."""
    return ends == sorted(ends) and (ends[-1] if ends else 0) == size


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN


class IndexWriter:
    """Collects documents in ascending order of id, and renders the file."""

    def __init__(self) -> None:
        self._parts: dict[str, array[int]] = {name: array(kind) for name, kind in _TYPES.items()}
        self._kinds: dict[str, int] = {}
        self._postings: dict[str, tuple[array[int], array[int]]] = {}

    @property
    def passages(self) -> int:
        """The number of passages so far."""
        return len(self._parts["firsts"])

    def add_document(self, document: IndexedDocument, lines: Iterable[tuple[int, int]]) -> None:
        """Add the next document and the lines of its passages. Their postings may follow at any time."""
        parts = self._parts
        _append_text(parts["ids"], parts["id_ends"], document.id)
        _append_text(parts["sources"], parts["source_ends"], "" if document.source == document.id else document.source)
        parts["kinds"].append(self._kinds.setdefault(document.kind, len(self._kinds)))
        parts["versions"].frombytes(bytes.fromhex(document.version[len(HASH_PREFIX) :]))
        for first, last in lines:
            parts["firsts"].append(first)
            parts["lasts"].append(last)
        parts["passage_ends"].append(len(parts["firsts"]))

    def add_posting(self, term: str, passage: int, impact: int) -> None:
        """Add a term of a passage."""
        found = self._postings.get(term)
        if found is None:
            found = self._postings[term] = (array("I"), array("H"))
        found[0].append(passage)
        found[1].append(impact)

    def render(self, identity: IndexIdentity) -> bytes:
        """Return the bytes of the file. The same documents give the same bytes, in whatever order postings were added."""
        self._write_postings()
        sections: dict[str, tuple[int, int, int]] = {}
        blobs: list[bytes] = []
        offset = 0
        for name, part in self._parts.items():
            raw = part.tobytes()
            sections[name] = (offset, len(raw), 0 if name in _POSTINGS else zlib.crc32(raw))
            blobs.append(raw.ljust(_aligned(len(raw)), b"\0"))
            offset += len(blobs[-1])
        header = render(
            {
                "format": FORMAT,
                "analysis": ANALYSIS,
                "order": sys.byteorder,
                "cache_version": identity.cache_version,
                "stamp": list(identity.stamp),
                "kinds": list(self._kinds),
                "sections": {name: list(place) for name, place in sections.items()},
            }
        )
        prefix = _PREFIX.pack(_MAGIC, len(header), zlib.crc32(header)) + header
        return b"".join([prefix.ljust(_aligned(len(prefix)), b"\0"), *blobs])

    def _write_postings(self) -> None:
        parts = self._parts
        for term in sorted(self._postings, key=str.encode):
            numbers, impacts = _sorted_postings(*self._postings[term])
            _append_text(parts["terms"], parts["term_ends"], term)
            parts["numbers"] += numbers
            parts["impacts"] += impacts
            parts["posting_ends"].append(len(parts["numbers"]))
            parts["posting_sums"].append(zlib.crc32(impacts, zlib.crc32(numbers)))


def _sorted_postings(numbers: array[int], impacts: array[int]) -> tuple[array[int], array[int]]:
    """Sort by passage. Postings copied from an earlier index come before those of new documents."""
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    return array("I", [numbers[at] for at in order]), array("H", [impacts[at] for at in order])


def _append_text(blob: array[int], ends: array[int], text: str) -> None:
    blob.frombytes(text.encode())
    ends.append(len(blob))
