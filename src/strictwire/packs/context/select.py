"""The v0 selection: score, sort, fill the budget. Pure, and exact to the last bit of a score.

The cost of a query grows with the number of documents it matches and selects, not with the size of the cache.
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
_MAX_MISFITS: Final = 32
"""After this many documents that do not fit, all candidates that cannot fit any more are removed from the heap."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A selected document: its number in the index, its binary32 score, and its number of matching words."""

    number: int
    score: float
    matches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The result of a v0 query."""

    query: str
    budget: int
    terms: tuple[str, ...]
    picks: tuple[Pick, ...]
    tokens_used: int
    considered: int


def select(index: Index, query: str, budget: int) -> Selection:
    """Select documents by score, then id, each as a whole, as long as they fit the budget.

    A word of a document counts once, however often the query repeats it, so scores stay between 0 and 1.
    """
    terms = tuple(parse_words(query))
    matches: Counter[int] = Counter()
    for term in set(terms):
        matches.update(index.occurrences(term))
    picks: list[Pick] = []
    left = _take_matching(index, matches, picks, budget)
    left = _take_rest(index, matches, picks, left)
    return Selection(
        query=query,
        budget=budget,
        terms=terms,
        picks=tuple(picks),
        tokens_used=budget - left,
        considered=len(index),
    )


def _take_matching(index: Index, matches: Counter[int], picks: list[Pick], left: int) -> int:
    """Select matching documents that fit, best first. Returns the rest of the budget.

    A heap sorts only as far as needed. The budget only shrinks, so from time to time candidates that cannot fit any more
    are removed.
    """
    # Inverted score bits above the document number: one integer that sorts by score descending, then by id.
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
        if misfits % _MAX_MISFITS == 0:
            heap = [each for each in heap if tokens[each & _ALL_BITS] <= left]
            heapify(heap)
    return left


def _score(index: Index, matches: Counter[int]) -> Iterator[int]:
    """Return the bits of each score, in the order of `matches`. Counts above 2**24 are rounded to binary32 first."""
    words = index.words
    if index.longest <= LARGEST_EXACT:
        return iter(sortable_bits([count / words[number] for number, count in matches.items()]))
    return iter(sortable_bits([as_binary32(count) / as_binary32(words[number]) for number, count in matches.items()]))


def _take_rest(index: Index, matches: Counter[int], picks: list[Pick], left: int) -> int:
    """Select documents without a match in order of id, jumping from one that fits to the next. Returns the rest."""
    at = index.fit.find(0, left)
    while at is not None:
        if at not in matches:
            picks.append(Pick(at, 0.0, 0))
            left -= index.tokens[at]
        at = index.fit.find(at + 1, left)
    return left
