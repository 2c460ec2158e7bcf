"""Searches caches: opens their indexes, ranks passages, reads the best ones and passes them to the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from strictwire.contract.handler import Answer
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.answers import AnswerWriter, Coverage, Found
from strictwire.packs.context.search.dense import DenseRanker
from strictwire.packs.context.search.fusion import best_first, fuse
from strictwire.packs.context.search.impacts import MAX_INDEXED
from strictwire.packs.context.search.index_file import DamagedIndex, SearchIndex
from strictwire.packs.context.search.index_store import IndexStore, Pending
from strictwire.packs.context.search.proximity import proximity, query_pairs
from strictwire.packs.context.search.ranking import DamagedCache, Match, rank, term_weights
from strictwire.packs.context.search.terms import parse_terms, query_words
from strictwire.packs.context.search.texts import TextReader
from strictwire.packs.context.search.token_counters import TokenCounter

LIMIT: Final = 20
"""Passages in an answer if the call gives no limit."""

DEPTH: Final = 100
"""Passages that are read and ranked by proximity: the most that an answer can have."""

RELEVANT: Final = 0.3
"""Passages with a lower share of the best score are not in the answer: they share only common words with the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The arguments of one call of context.search."""

    query: str
    budget: int
    limit: int = LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """The caches of one search, by name."""

    paths: Mapping[str, Path]
    indexes: Mapping[str, SearchIndex]
    skipped: Mapping[str, str]
    """Name to failure code of each cache that cannot be used."""
    indexing: tuple[str, ...]

    def without(self, name: str, code: str) -> _Opened:
        """Return the search without a cache that turned out to be broken."""
        rest = {each: index for each, index in self.indexes.items() if each != name}
        return replace(self, indexes=rest, skipped={**self.skipped, name: code})

    @property
    def coverage(self) -> Coverage:
        return Coverage(searched=len(self.indexes), skipped=tuple(sorted(self.skipped.items())), indexing=self.indexing)


class Searcher:
    """Searches caches by name and directory. Safe to call from any thread."""

    def __init__(self, counter: TokenCounter, store: IndexStore, dense: DenseRanker | None = None) -> None:
        self._counter = counter
        self._store = store
        self._dense = dense
        self._texts = TextReader()

    def search(self, search: Search, caches: Mapping[str, Path], broken: Mapping[str, str] | None = None) -> Answer:
        """Return the best passages of the caches within the budget. `broken` names other caches that cannot be used.

        Raises Unusable if none of the caches can be used.
        """
        rankings, coverage = self._rankings(search.query, caches, broken)
        writer = AnswerWriter(counter=self._counter, budget=search.budget, limit=search.limit, coverage=coverage)
        return writer.write(fuse([_relevant(ranking) for ranking in rankings]))

    def rank(
        self, query: str, caches: Mapping[str, Path], broken: Mapping[str, str] | None = None
    ) -> tuple[list[Found], Coverage]:
        """Return the best passages, best first, and the caches they come from. Raises Unusable as `search` does."""
        rankings, coverage = self._rankings(query, caches, broken)
        return fuse(rankings), coverage

    def _rankings(
        self, query: str, caches: Mapping[str, Path], broken: Mapping[str, str] | None
    ) -> tuple[list[list[Found]], Coverage]:
        """Return the ranking by words and, if there is a model, the one by similarity.

        A damaged index is made again; a cache with a damaged document is left out.
        """
        opened = self._open(caches, broken or {})
        repaired: set[str] = set()
        while True:
            weights = term_weights(parse_terms(" ".join(query_words(query))), opened.indexes.values())
            try:
                found = list(self._read(rank(weights, opened.indexes, DEPTH), opened))
                similar, coverage = self._rank_dense(query, opened)
            except DamagedCache as damaged:
                if damaged.name in repaired:  # it changes faster than it can be indexed
                    opened = opened.without(damaged.name, "IO_ERROR")
                else:
                    repaired.add(damaged.name)
                    opened = self._reopen(opened, damaged.name)
            else:
                return [_by_proximity(query, weights, found), *similar], coverage

    def _rank_dense(self, query: str, opened: _Opened) -> tuple[list[list[Found]], Coverage]:
        """Return the ranking by similarity, or none without a model. Raises DamagedCache."""
        if self._dense is None:
            return [], opened.coverage
        dense = self._dense.rank(query, opened.indexes, opened.paths, DEPTH)
        coverage = replace(opened.coverage, lexical_only=tuple(sorted(dense.lexical_only.items())))
        return [list(self._read(dense.matches, opened))], coverage

    def _open(self, caches: Mapping[str, Path], broken: Mapping[str, str]) -> _Opened:
        states = self._store.open_all(caches.values())
        by_name = {name: states[path] for name, path in sorted(caches.items())}
        failures = {name: state for name, state in by_name.items() if isinstance(state, Unusable)}
        if failures and len(failures) == len(by_name):
            raise next(iter(failures.values()))
        return _Opened(
            paths=caches,
            indexes={name: state for name, state in by_name.items() if isinstance(state, SearchIndex)},
            skipped={**broken, **{name: failure.failure.code for name, failure in failures.items()}},
            indexing=tuple(name for name, state in by_name.items() if isinstance(state, Pending)),
        )

    def _reopen(self, opened: _Opened, name: str) -> _Opened:
        """Make a new index of a cache, from all of its documents: the index was damaged, or the cache has changed.

        If the cache itself is broken, its failure is found now.
        """
        path = opened.paths[name]
        self._store.discard(path)
        state = self._store.open_all([path])[path]
        if isinstance(state, SearchIndex):
            return replace(opened, indexes={**opened.indexes, name: state})
        if isinstance(state, Unusable):
            return opened.without(name, state.failure.code)
        return replace(opened.without(name, ""), skipped=opened.skipped, indexing=(*opened.indexing, name))

    def _read(self, matches: Sequence[Match], opened: _Opened) -> Iterator[Found]:
        """Read the documents of the matches; a text that occurs twice is returned once. Raises DamagedCache."""
        seen: set[str] = set()
        for match in matches:
            index, path = opened.indexes[match.cache], opened.paths[match.cache]
            first, last = index.lines(match.passage)
            try:
                document = index.document(index.document_of(match.passage))
                text = self._texts.read(path, document)
            except (DamagedIndex, Unusable) as damage:
                raise DamagedCache(match.cache) from damage
            if first not in text.passages:
                raise DamagedCache(match.cache)
            found = Found(
                cache=match.cache,
                id=document.id,
                source=document.source,
                version=document.version,
                kind=document.kind,
                headings=text.passages[first].headings,
                first=first,
                last=last,
                lines=text.lines,
                score=match.score,
            )
            if found.text not in seen:
                seen.add(found.text)
                yield found


def _by_proximity(query: str, weights: Mapping[str, float], found: Sequence[Found]) -> list[Found]:
    pairs = query_pairs(query)
    scored = [
        replace(each, score=each.score + proximity(pairs, weights, " ".join((*each.headings[-1:], each.text[:MAX_INDEXED]))))
        for each in found
    ]
    return sorted(scored, key=best_first)


def _relevant(ranking: Sequence[Found]) -> list[Found]:
    least = RELEVANT * ranking[0].score if ranking else 0.0
    return [each for each in ranking if each.score >= least]
