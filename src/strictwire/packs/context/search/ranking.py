"""Ranks the passages of several indexes as one collection: BM25F from the stored impacts. Pure.

Terms are added in descending order of weight. Once the terms that are left cannot lift a passage that has none of the
earlier ones into the best `depth`, they are only added to passages that are there already.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nlargest, nsmallest
from typing import Final, NamedTuple

from strictwire.packs.context.search.impacts import SCALE, inverse_frequency
from strictwire.packs.context.search.index_file import DamagedIndex, SearchIndex

_PRUNE_FROM: Final = 4096
"""Postings of a term from which on it is worth finding out whether it can be left to the passages that are there."""


class DamagedCache(Exception):
    """The index or a document of the cache `name` is damaged."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Match(NamedTuple):
    """A passage that contains terms of the query."""

    cache: str
    passage: int
    score: float


def term_weights(terms: Iterable[str], indexes: Iterable[SearchIndex]) -> dict[str, float]:
    """Return the weight of each query term over several indexes as one collection. A repeated term weighs more."""
    opened = list(indexes)
    passages = sum(index.passages for index in opened)
    return {
        term: count * inverse_frequency(passages, sum(_count(index, term) for index in opened))
        for term, count in Counter(terms).items()
    }


def rank(weights: Mapping[str, float], indexes: Mapping[str, SearchIndex], depth: int) -> list[Match]:
    """Return the best passages of all indexes by score, then cache, id and line.

    Raises DamagedCache: the postings of an index are damaged.
    """
    best: list[Match] = []
    for name, index in indexes.items():
        try:
            scores = score_passages(weights, index, depth)
        except DamagedIndex as exc:
            raise DamagedCache(name) from exc
        best += [Match(name, *each) for each in nlargest(depth, scores.items(), key=_by_score)]
    return nsmallest(depth, best, key=lambda match: (-match.score, match.cache, match.passage))


def score_passages(weights: Mapping[str, float], index: SearchIndex, depth: int) -> dict[int, float]:
    """Return the score of each passage that can be among the best `depth`. Raises DamagedIndex."""
    scores: dict[int, float] = {}
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    left = sum(weights.values())
    for term, weight in ordered:
        number = index.find_term(term)
        if number is not None:
            numbers, impacts = index.postings(number)
            step = weight / SCALE
            if len(numbers) >= _PRUNE_FROM and _is_decided(scores, depth, left):
                _add_to_known(scores, numbers, impacts, step)
            else:
                for passage, impact in zip(numbers, impacts, strict=True):
                    scores[passage] = scores.get(passage, 0.0) + step * impact
        left -= weight
    return scores


def _is_decided(scores: Mapping[int, float], depth: int, left: float) -> bool:
    """Return whether a passage without a score so far cannot reach the best `depth` with the weight that is left."""
    return len(scores) >= depth and nlargest(depth, scores.values())[-1] > left


def _add_to_known(scores: dict[int, float], numbers: memoryview, impacts: memoryview, step: float) -> None:
    for passage in scores:
        at = bisect_left(numbers, passage)
        if at < len(numbers) and numbers[at] == passage:
            scores[passage] += step * impacts[at]


def _by_score(item: tuple[int, float]) -> tuple[float, int]:
    return item[1], -item[0]


def _count(index: SearchIndex, term: str) -> int:
    number = index.find_term(term)
    return 0 if number is None else index.passages_with(number)
