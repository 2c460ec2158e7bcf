"""Searches one or several caches: ranks passages, fills the budget, and reports the provenance of each passage."""

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
from strictwire.packs.context.search.bm25f import PassageIndex, passage_fields, term_weights
from strictwire.packs.context.search.passages import Passage, split_passages, title_of
from strictwire.packs.context.search.terms import parse_terms
from strictwire.packs.context.search.token_counters import TokenCounter

LIMIT: Final = 20
"""Passages in an answer if the call gives no limit."""

MAX_CANDIDATES: Final = 1000
"""Most passages that are tried against the budget. Passages ranked lower are rarely relevant."""

_SCORE_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The indexed passages of one cache. Must not refer to the Index, whose lifetime decides how long this is kept."""

    ranked: PassageIndex
    places: Sequence[tuple[int, Passage]]
    """Document number and passage, in ascending order of document id and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The arguments of one call of context.search."""

    query: str
    budget: int
    limit: int = LIMIT


class Searcher:
    """Searches caches, and keeps the passages of a generation as long as the generation is in memory."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._passages: weakref.WeakKeyDictionary[Index, Passages] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def search(self, search: Search, caches: Mapping[str, Generation]) -> JsonObject:
        """Return the best passages of the caches within the budget."""
        passages = {name: self._passages_of(generation.index) for name, generation in sorted(caches.items())}
        weights = term_weights(parse_terms(search.query), [each.ranked for each in passages.values()])
        matches, ranked = _rank(passages, weights)
        chosen = _Selection(search=search, counter=self._counter)
        for tried, (score, name, number) in enumerate(ranked):
            if tried == MAX_CANDIDATES or chosen.is_full:
                break
            place = passages[name].places[number]
            chosen.offer(_Match(cache=name, index=caches[name].index, place=place, score=score))
        return {
            "passages": chosen.passages,
            "selection": {
                "query": search.query,
                "caches": [{"name": name, "version": caches[name].cache_version} for name in passages],
                "budget": search.budget,
                "tokenizer": self._counter.name,
                "tokensUsed": chosen.used,
                "passagesMatched": matches,
                "passagesSelected": len(chosen.passages),
            },
        }

    def _passages_of(self, index: Index) -> Passages:
        with self._lock:
            passages = self._passages.get(index)
            if passages is None:
                passages = index_passages(index)
                self._passages[index] = passages
            return passages


def index_passages(index: Index) -> Passages:
    """Split every document of a cache and index its passages."""
    ranked, places = PassageIndex(), []
    for number in range(len(index)):
        document = index.document(number)
        source, kind = index.source(number, document["id"]), index.kind(number)
        passages = split_passages(document["content"], kind)
        lines = document["content"].split("\n")
        title = f"{title_of(source, passages, kind)} {source}"
        for passage in passages:
            ranked.add(passage_fields(title, passage, lines))
            places.append((number, passage))
    ranked.finish()
    return Passages(ranked=ranked, places=places)


def _rank(passages: Mapping[str, Passages], weights: Mapping[str, float]) -> tuple[int, Iterator[tuple[float, str, int]]]:
    """Return the number of matching passages, and an iterator over them by score, then cache, then id and line."""
    heap = [
        (-score, name, number) for name, each in passages.items() for number, score in each.ranked.score(weights).items()
    ]
    heapify(heap)

    def best() -> Iterator[tuple[float, str, int]]:
        while heap:
            score, name, number = heappop(heap)
            yield -score, name, number

    return len(heap), best()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """A matching passage."""

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
class _Selection:
    """Fills the budget. A passage is taken as a whole if it fits; a text that was taken already is not taken again."""

    search: Search
    counter: TokenCounter
    used: int = 0
    passages: list[JsonObject] = field(default_factory=list)
    _texts: set[str] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        return len(self.passages) >= self.search.limit or self.used >= self.search.budget

    def offer(self, found: _Match) -> None:
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
