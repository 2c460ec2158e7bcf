"""The v0 selection: score, order, fill the budget. Pure, and exact to the last bit of a score.

The cost of a query grows with the documents it matches and the documents it selects, not with the cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop
from typing import Final

from strictwire.packs.context.binary32 import LARGEST_EXACT, as_binary32, bits_as_float, sortable_bits
from strictwire.packs.context.index import Index
from strictwire.packs.context.words import parse_words

_ALL_BITS: Final = 0xFFFF_FFFF
_MISFITS: Final = 32
"""Documents that did not fit after which the rest is looked through once."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One selected document: its number in the index, its binary32 score, its matching words."""

    number: int
    score: float
    matches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What v0 answers to a query."""

    query: str
    budget: int
    terms: tuple[str, ...]
    picks: tuple[Pick, ...]
    tokens_used: int
    considered: int


def select(index: Index, query: str, budget: int) -> Selection:
    """Take documents in order of score, then id, whole or not at all, while they fit.

    Each word of a document counts once, however often the query names it: scores stay in 0 to 1.
    """
    terms = tuple(parse_words(query))
    matches: Counter[int] = Counter()
    for term in set(terms):
        matches.update(index.occurrences(term))
    picks: list[Pick] = []
    left = _take_ranked(index, matches, picks, budget)
    left = _take_others(index, matches, picks, left)
    return Selection(
        query=query,
        budget=budget,
        terms=terms,
        picks=tuple(picks),
        tokens_used=budget - left,
        considered=len(index),
    )


def _take_ranked(index: Index, matches: Counter[int], picks: list[Pick], left: int) -> int:
    """Take from the matching documents, best first, what fits. Returns what is left of the budget.

    The heap is sorted only as far as it is asked for, and cleared now and then of what cannot fit any more: the budget
    only shrinks.
    """
    # Score bits, inverted, above the document's number: one integer orders by score descending, then by id.
    heap = [(_ALL_BITS - bits) << 32 | number for bits, number in zip(_score(index, matches), matches, strict=True)]
    heapify(heap)
    tokens, misfits = index.tokens, 0
    while heap and left >= index.fit.smallest:
        key = heappop(heap)
        number = key & _ALL_BITS
        if tokens[number] <= left:
            picks.append(Pick(number, bits_as_float(_ALL_BITS - (key >> 32)), matches[number]))
            left -= tokens[number]
            continue
        misfits += 1
        if misfits % _MISFITS == 0:
            heap = [each for each in heap if tokens[each & _ALL_BITS] <= left]
            heapify(heap)
    return left


def _score(index: Index, matches: Counter[int]) -> Iterator[int]:
    """The bits of each score, in the order of `matches`. Counts beyond 2**24 are rounded to binary32 first."""
    words = index.words
    if index.longest <= LARGEST_EXACT:
        return iter(sortable_bits([count / words[number] for number, count in matches.items()]))
    return iter(sortable_bits([as_binary32(count) / as_binary32(words[number]) for number, count in matches.items()]))


def _take_others(index: Index, matches: Counter[int], picks: list[Pick], left: int) -> int:
    """Documents that match nothing come last, in order of id: jump from one that fits to the next. Returns what is left."""
    at = index.fit.find(0, left)
    while at is not None:
        if at not in matches:
            picks.append(Pick(at, 0.0, 0))
            left -= index.tokens[at]
        at = index.fit.find(at + 1, left)
    return left
