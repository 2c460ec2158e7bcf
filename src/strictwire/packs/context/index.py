"""The in-memory index of one cache: serialised documents, word counts, postings, and a tree over token counts. Pure.

Memory use stays near the size of the contents: each content is stored once, as the JSON of the answer, and a posting takes
four bytes. A word that occurs n times in a document has n postings, so the number of postings is the number of matches.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat, zip_longest
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject, Limits, parse_object, render
from strictwire.packs.context.layout import HASH_PREFIX, Document
from strictwire.packs.context.words import estimate_tokens, parse_words

Postings: TypeAlias = "int | array[int]"
"""Document numbers in ascending order. A single number is stored without an array, because most words of a large cache occur
in one document."""

_NO_METADATA: Final[Mapping[str, str | int]] = {}
_DIGEST_BYTES: Final = 32

_CHUNK_BYTES: Final = 1 << 22
_CHUNK_WORDS: Final = 4096
"""Size of one chunk that a loader process sends: document bytes, or words with their postings."""

_NO_DOCUMENT: Final = (1 << 64) - 1
"""A cost above every budget."""

_NO_LIMITS: Final = Limits(size=1 << 62, values=1 << 62)
"""Limits for parsing our own JSON; it was checked when the cache was loaded."""


class BudgetTree:
    """Finds the next document that costs at most a given number of tokens, in logarithmic time: a segment tree of minima."""

    def __init__(self, costs: array[int]) -> None:
        self._levels: list[array[int]] = [costs]
        while len(self._levels[-1]) > 1:
            below = self._levels[-1]
            pairs = zip_longest(below[::2], below[1::2], fillvalue=_NO_DOCUMENT)
            self._levels.append(array("Q", (min(pair) for pair in pairs)))

    @property
    def smallest(self) -> int:
        """The lowest cost; above every budget if there are no documents."""
        return self._levels[-1][0] if self._levels[-1] else _NO_DOCUMENT

    def find(self, start: int, limit: int) -> int | None:
        """Return the first position from `start` whose cost is at most `limit`, or None."""
        level, at = 0, start
        while at < len(self._levels[level]):
            if self._levels[level][at] <= limit:
                return self._descend(level, at, limit)
            at += 1
            while not at & 1 and level + 1 < len(self._levels):
                level, at = level + 1, at >> 1
        return None

    def _descend(self, level: int, at: int, limit: int) -> int:
        while level:
            level, at = level - 1, at << 1
            if self._levels[level][at] > limit:
                at += 1
        return at


class DocumentStore:
    """All documents in one byte buffer: for each the JSON of its id, its hash, and the JSON of its content.

    One growing buffer instead of one object per document avoids object headers and heap fragmentation.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._id_sizes = array("I")
        self._ends = array("Q", (0,))

    def __len__(self) -> int:
        return len(self._id_sizes)

    def add(self, document: Document) -> None:
        """Append a document."""
        name = render(document.id)
        self._bytes += name
        self._bytes += bytes.fromhex(document.version[len(HASH_PREFIX) :])
        self._bytes += render(document.content)
        self._id_sizes.append(len(name))
        self._ends.append(len(self._bytes))

    def chunks(self) -> Iterator[tuple[str, bytes]]:
        """Yield the contents in chunks for IndexBuilder.merge. The ends of documents come before their bytes."""
        yield "ids", self._id_sizes.tobytes()
        yield "ends", self._ends[1:].tobytes()
        for at in range(0, len(self._bytes), _CHUNK_BYTES):
            yield "bytes", bytes(self._bytes[at : at + _CHUNK_BYTES])

    def merge_ids(self, raw: bytes) -> None:
        """Append the lengths of the ids of another store's documents."""
        self._id_sizes.frombytes(raw)

    def merge_ends(self, raw: bytes) -> None:
        """Append the ends of another store's documents, which are relative to the start of that store."""
        base = len(self._bytes)
        self._ends.extend(array("Q", [base + end for end in array("Q", raw)]))

    def merge_bytes(self, raw: bytes) -> None:
        """Append the next bytes of another store."""
        self._bytes += raw

    def head(self, number: int) -> bytes:
        """Return the JSON of a document up to its score: `{"id":…,"version":…,"content":…,"score":`."""
        start, end = self._ends[number], self._ends[number + 1]
        digest = start + self._id_sizes[number]
        content = digest + _DIGEST_BYTES
        return b'{"id":%b,"version":"%b%b","content":%b,"score":' % (
            bytes(self._bytes[start:digest]),
            HASH_PREFIX.encode(),
            self._bytes[digest:content].hex().encode(),
            bytes(self._bytes[content:end]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Index:
    """A loaded cache. Documents are numbered in ascending order of id."""

    store: DocumentStore
    tokens: array[int]
    words: array[int]
    postings: Mapping[str, Postings]
    fit: BudgetTree
    longest: int
    """Number of words of the longest document."""
    sources: Mapping[int, str]
    """The source of each document whose source differs from its id."""
    metadata: Mapping[int, Mapping[str, str | int]]

    def __len__(self) -> int:
        return len(self.store)

    def occurrences(self, word: str) -> Iterable[int]:
        """Return the document number of each occurrence of the word; a number is repeated for each occurrence."""
        found = self.postings.get(word, ())
        return (found,) if isinstance(found, int) else found

    def document(self, number: int) -> JsonObject:
        """Return id, version and content of a document."""
        members = parse_object(self.store.head(number) + b"0}", _NO_LIMITS)
        del members["score"]
        return members

    def kind(self, number: int) -> str:
        """Return the kind of source a document was built from; v0 caches contain only Markdown."""
        return str(self.metadata.get(number, _NO_METADATA).get("kind", "markdown"))

    def source(self, number: int, document_id: str) -> str:
        """Return the path of the source that a document was built from."""
        return self.sources.get(number, document_id)


class IndexBuilder:
    """Builds an index from documents in ascending order of id. The first document gets the number `first`."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._store = DocumentStore()
        self._tokens = array("Q")
        self._words = array("I")
        self._postings: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
        self._sources: dict[int, str] = {}
        self._metadata: dict[int, Mapping[str, str | int]] = {}

    def add(self, document: Document) -> None:
        """Add the next document."""
        number = self._first + len(self._store)
        self._store.add(document)
        self._tokens.append(estimate_tokens(len(document.content.encode())))
        words = parse_words(document.content)
        self._words.append(len(words))
        # map and deque run this loop in C. It is the largest part of a cold load.
        deque(map(array.append, map(self._postings.__getitem__, words), repeat(number)), maxlen=0)
        if document.source != document.id:
            self._sources[number] = document.source
        if document.metadata:
            self._metadata[number] = document.metadata

    def chunks(self) -> Iterator[tuple[str, Any]]:
        """Yield what was added, as chunks of plain values, for `merge` of the builder with the preceding documents."""
        yield from self._store.chunks()
        yield "tokens", self._tokens.tobytes()
        yield "words", self._words.tobytes()
        words = iter(self._postings.items())
        while some := {word: found.tobytes() for word, found in islice(words, _CHUNK_WORDS)}:
            yield "postings", some
        yield "sources", self._sources
        yield "metadata", {number: dict(each) for number, each in self._metadata.items()}

    def merge(self, kind: str, chunk: Any) -> None:
        """Add a chunk of another builder, whose first number is the next one here. Raises KeyError for an unknown kind."""
        mergers: Mapping[str, Callable[[Any], None]] = {
            "ids": self._store.merge_ids,
            "ends": self._store.merge_ends,
            "bytes": self._store.merge_bytes,
            "tokens": self._tokens.frombytes,
            "words": self._words.frombytes,
            "postings": self._merge_postings,
            "sources": self._sources.update,
            "metadata": self._metadata.update,
        }
        mergers[kind](chunk)

    def _merge_postings(self, chunk: Mapping[str, bytes]) -> None:
        for word, found in chunk.items():
            self._postings[word].frombytes(found)

    def finish(self) -> Index:
        """Return the index. The builder must not be used afterwards."""
        return Index(
            store=self._store,
            tokens=self._tokens,
            words=self._words,
            postings={word: found if len(found) > 1 else found[0] for word, found in self._postings.items()},
            fit=BudgetTree(self._tokens),
            longest=max(self._words, default=0),
            sources=self._sources,
            metadata=self._metadata,
        )
