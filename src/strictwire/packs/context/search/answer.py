"""One search over one or several caches: rank passages, fill the budget, say where each came from."""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.context.extract import VERBATIM
from strictwire.packs.context.index import Index
from strictwire.packs.context.library import Generation
from strictwire.packs.context.search.bm25f import PassageIndex, fields_of, weigh
from strictwire.packs.context.search.counters import Counter
from strictwire.packs.context.search.passages import Passage, cut, title_of
from strictwire.packs.context.search.terms import parse_terms

LIMIT: Final = 20
"""Passages of an answer where the call names no limit."""

MAX_LOOKED_AT: Final = 1000
"""Passages that are tried against the budget: what ranks below is not worth its reading."""

_SCORE_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The passages of one cache, ready to be ranked. Must not refer to the index: it is kept as long as that is."""

    ranked: PassageIndex
    places: Sequence[tuple[int, Passage]]
    """Document number and lines of each passage, in ascending order of id and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One call of context.search."""

    query: str
    budget: int
    limit: int = LIMIT


class Searcher:
    """Keeps the passages of a generation for as long as the generation is kept."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._kept: weakref.WeakKeyDictionary[Index, Passages] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def search(self, search: Search, caches: Mapping[str, Generation]) -> JsonObject:
        """The best passages of the caches within the budget."""
        shelves = {name: self._passages(generation.index) for name, generation in sorted(caches.items())}
        weights = weigh(parse_terms(search.query), [shelf.ranked for shelf in shelves.values()])
        matches, ranked = _rank(shelves, weights)
        chosen = _Choice(search=search, counter=self._counter)
        for looked_at, (score, name, number) in enumerate(ranked):
            if looked_at == MAX_LOOKED_AT or chosen.is_full:
                break
            place = shelves[name].places[number]
            chosen.offer(_Found(cache=name, index=caches[name].index, place=place, score=score))
        return {
            "passages": chosen.passages,
            "selection": {
                "query": search.query,
                "caches": [{"name": name, "version": caches[name].cache_version} for name in shelves],
                "budget": search.budget,
                "tokenizer": self._counter.name,
                "tokensUsed": chosen.used,
                "passagesMatched": matches,
                "passagesSelected": len(chosen.passages),
            },
        }

    def _passages(self, index: Index) -> Passages:
        with self._lock:
            kept = self._kept.get(index)
            if kept is None:
                kept = index_passages(index)
                self._kept[index] = kept
            return kept


def index_passages(index: Index) -> Passages:
    """Cut every document of a cache and index its passages."""
    ranked, places = PassageIndex(), []
    for number in range(len(index)):
        document = index.document(number)
        source, kind = index.source(number, document["id"]), index.kind(number)
        passages = cut(document["content"], kind)
        lines = document["content"].split("\n")
        title = f"{title_of(source, passages, kind)} {source}"
        for passage in passages:
            ranked.add(fields_of(title, passage, lines))
            places.append((number, passage))
    ranked.finish()
    return Passages(ranked=ranked, places=places)


def _rank(shelves: Mapping[str, Passages], weights: Mapping[str, float]) -> tuple[int, Iterator[tuple[float, str, int]]]:
    """How many passages match, and the passages by score, then cache, then id and line."""
    heap = [
        (-score, name, number) for name, shelf in shelves.items() for number, score in shelf.ranked.score(weights).items()
    ]
    heapify(heap)

    def best() -> Iterator[tuple[float, str, int]]:
        while heap:
            score, name, number = heappop(heap)
            yield -score, name, number

    return len(heap), best()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A passage that matched."""

    cache: str
    index: Index
    place: tuple[int, Passage]
    score: float

    def as_json(self, document: JsonObject, *, text: str, tokens: int, digest: str) -> JsonObject:
        number, passage = self.place
        kind = self.index.kind(number)
        return {
            "cache": self.cache,
            "id": document["id"],
            "version": document["version"],
            "source": self.index.source(number, document["id"]),
            "kind": kind,
            "verbatim": kind in VERBATIM,
            "headings": list(passage.headings),
            "range": {
                "start": {"line": passage.first, "character": 0},
                "end": {"line": passage.last, "character": 0},
            },
            "hash": digest,
            "text": text,
            "score": round(self.score, _SCORE_DIGITS),
            "tokens": tokens,
        }


@dataclass(slots=True, kw_only=True)
class _Choice:
    """Fills the budget: a passage is taken whole if it fits, and a text that was taken already is not taken again."""

    search: Search
    counter: Counter
    used: int = 0
    passages: list[JsonObject] = field(default_factory=list)
    _texts: set[str] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        return len(self.passages) >= self.search.limit or self.used >= self.search.budget

    def offer(self, found: _Found) -> None:
        number, passage = found.place
        document = found.index.document(number)
        text = "\n".join(document["content"].split("\n")[passage.first : passage.last])
        tokens = self.counter.count(text)
        digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
        if self.used + tokens > self.search.budget or digest in self._texts:
            return
        self.used += tokens
        self._texts.add(digest)
        self.passages.append(found.as_json(document, text=text, tokens=tokens, digest=digest))
