"""What is kept in memory of one cache: documents ready to be written, counts, postings, and where small ones stand. Pure.

Memory is held near the size of the contents: a content is kept once, as the JSON it will be answered with, and a posting
costs four bytes. A word that stands n times in a document is posted n times; counting postings gives the matches .
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
"""Document numbers, ascending; one alone is kept as itself, for most words of a large cache stand in one document."""

_NO_METADATA: Final[Mapping[str, str | int]] = {}
_DIGEST_BYTES: Final = 32
_PIECE: Final = 1 << 22
_WORDS_A_PIECE: Final = 4096
"""Sizes of what goes from one builder to another at once."""

_NO_DOCUMENT: Final = (1 << 64) - 1
_NO_LIMITS: Final = Limits(size=1 << 62)
"""What is read back here was judged when it was loaded."""


class NextFit:
    """Finds the next document that costs at most so much, in logarithmic time: a tree of minima over the costs."""

    def __init__(self, costs: array[int]) -> None:
        self._levels: list[array[int]] = [costs]
        while len(self._levels[-1]) > 1:
            below = self._levels[-1]
            pairs = zip_longest(below[::2], below[1::2], fillvalue=_NO_DOCUMENT)
            self._levels.append(array("Q", (min(pair) for pair in pairs)))

    @property
    def smallest(self) -> int:
        """The least cost; more than any budget where there is nothing."""
        return self._levels[-1][0] if self._levels[-1] else _NO_DOCUMENT

    def find(self, start: int, limit: int) -> int | None:
        """The first position from `start` on whose cost is at most `limit`."""
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


class Store:
    """Every document in one run of bytes: the JSON of its id, its hash, the JSON of its content.

    One growing buffer instead of an object a document: nothing is lost to headers or to holes between them.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ids = array("I")
        self._ends = array("Q", (0,))

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, document: Document) -> None:
        """Keep the next document."""
        name = render(document.id)
        self._bytes += name
        self._bytes += bytes.fromhex(document.version[len(HASH_PREFIX) :])
        self._bytes += render(document.content)
        self._ids.append(len(name))
        self._ends.append(len(self._bytes))

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """What is kept, in pieces that `take` takes: where documents end comes before their bytes."""
        yield "ids", self._ids.tobytes()
        yield "ends", self._ends[1:].tobytes()
        for at in range(0, len(self._bytes), _PIECE):
            yield "bytes", bytes(self._bytes[at : at + _PIECE])

    def take_ids(self, raw: bytes) -> None:
        """Of the documents that follow, the lengths of their ids."""
        self._ids.frombytes(raw)

    def take_ends(self, raw: bytes) -> None:
        """And where they end, counted from here."""
        base = len(self._bytes)
        self._ends.extend(array("Q", [base + end for end in array("Q", raw)]))

    def take_bytes(self, raw: bytes) -> None:
        """And the next of their bytes."""
        self._bytes += raw

    def head(self, number: int) -> bytes:
        """The answer of a document up to its score: `{"id":…,"version":…,"content":…,"score":`."""
        start, end = self._ends[number], self._ends[number + 1]
        digest = start + self._ids[number]
        content = digest + _DIGEST_BYTES
        return b'{"id":%b,"version":"%b%b","content":%b,"score":' % (
            bytes(self._bytes[start:digest]),
            HASH_PREFIX.encode(),
            self._bytes[digest:content].hex().encode(),
            bytes(self._bytes[content:end]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Index:
    """One cache, ready to answer. Documents are numbered in ascending order of id."""

    store: Store
    tokens: array[int]
    words: array[int]
    postings: Mapping[str, Postings]
    fit: NextFit
    longest: int
    """Most words in one document."""
    sources: Mapping[int, str]
    """The source of each document whose source is not its id."""
    metadata: Mapping[int, Mapping[str, str | int]]

    def __len__(self) -> int:
        return len(self.store)

    def occurrences(self, word: str) -> Iterable[int]:
        """The number of a document for each time the word stands in it."""
        found = self.postings.get(word, ())
        return (found,) if isinstance(found, int) else found

    def document(self, number: int) -> JsonObject:
        """id, version and content of a document."""
        members = parse_object(self.store.head(number) + b"0}", _NO_LIMITS)
        del members["score"]
        return members

    def kind(self, number: int) -> str:
        """Of which kind a document was built; v0 knows Markdown alone."""
        return str(self.metadata.get(number, _NO_METADATA).get("kind", "markdown"))

    def source(self, number: int, document_id: str) -> str:
        """Where a document came from."""
        return self.sources.get(number, document_id)


class IndexBuilder:
    """Takes documents in ascending order of id, the first of them numbered `first`."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._store = Store()
        self._tokens = array("Q")
        self._words = array("I")
        self._postings: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
        self._sources: dict[int, str] = {}
        self._metadata: dict[int, Mapping[str, str | int]] = {}

    def add(self, document: Document) -> None:
        """Take the next document."""
        number = self._first + len(self._store)
        self._store.add(document)
        self._tokens.append(estimate_tokens(len(document.content.encode())))
        words = parse_words(document.content)
        self._words.append(len(words))
        # No code of ours runs a word: this line is most of a cold load.
        deque(map(array.append, map(self._postings.__getitem__, words), repeat(number)), maxlen=0)
        if document.source != document.id:
            self._sources[number] = document.source
        if document.metadata:
            self._metadata[number] = document.metadata

    def pieces(self) -> Iterator[tuple[str, Any]]:
        """What was taken, in pieces of plain values, for the builder that stands before this one."""
        yield from self._store.pieces()
        yield "tokens", self._tokens.tobytes()
        yield "words", self._words.tobytes()
        words = iter(self._postings.items())
        while some := {word: found.tobytes() for word, found in islice(words, _WORDS_A_PIECE)}:
            yield "postings", some
        yield "sources", self._sources
        yield "metadata", {number: dict(each) for number, each in self._metadata.items()}

    def take(self, kind: str, piece: Any) -> None:
        """Take over a piece of another builder, whose first number is the next one here. Raises KeyError: unknown kind."""
        takers: Mapping[str, Callable[[Any], None]] = {
            "ids": self._store.take_ids,
            "ends": self._store.take_ends,
            "bytes": self._store.take_bytes,
            "tokens": self._tokens.frombytes,
            "words": self._words.frombytes,
            "postings": self._take_postings,
            "sources": self._sources.update,
            "metadata": self._metadata.update,
        }
        takers[kind](piece)

    def _take_postings(self, piece: Mapping[str, bytes]) -> None:
        for word, found in piece.items():
            self._postings[word].frombytes(found)

    def finish(self) -> Index:
        """The index of what was taken. The builder is used up."""
        return Index(
            store=self._store,
            tokens=self._tokens,
            words=self._words,
            postings={word: found if len(found) > 1 else found[0] for word, found in self._postings.items()},
            fit=NextFit(self._tokens),
            longest=max(self._words, default=0),
            sources=self._sources,
            metadata=self._metadata,
        )
