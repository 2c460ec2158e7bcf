"""Rewards passages in which words of the query stand close together and in its order. Pure.

Applied to the best passages only, because it needs their text. A pair of neighbouring query words that are also
neighbours in the passage counts most; the reward falls with the square of their distance.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from strictwire.packs.context.search.terms import find_words, query_words, word_terms

SHARE: Final = 0.3
"""Weight of a pair of neighbours, relative to the weight of its rarer word."""

_REACH: Final = 5
"""Largest distance of two words, in words, that counts."""


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the neighbouring words of a query, each by its first term: the folded word as a whole."""
    words = [terms[0] for word in query_words(query) if (terms := word_terms(word))]
    return [(left, right) for left, right in pairwise(words) if left != right]


def proximity(pairs: Sequence[tuple[str, str]], weights: Mapping[str, float], text: str) -> float:
    """Return the reward of a passage."""
    wanted = {term for pair in pairs for term in pair}
    places: dict[str, list[int]] = {term: [] for term in wanted}
    for at, word in enumerate(find_words(text)):
        for term in word_terms(word):
            if term in places:
                places[term].append(at)
    return sum(
        SHARE * min(weights.get(left, 0.0), weights.get(right, 0.0)) * _closeness(places[left], places[right])
        for left, right in pairs
    )


def _closeness(lefts: Sequence[int], rights: Sequence[int]) -> float:
    """Return 1 for neighbours in order, less for words farther apart, 0 beyond the reach."""
    shortest = _REACH + 1
    for left in lefts:
        at = bisect_right(rights, left)
        if at < len(rights):
            shortest = min(shortest, rights[at] - left)
    return 1.0 / shortest**2 if shortest <= _REACH else 0.0
