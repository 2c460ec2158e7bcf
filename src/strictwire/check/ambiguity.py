"""Is a regular expression catastrophic for a backtracking engine?

Decided on the expression's own structure, not guessed from its looks: an expression takes exponential time on some texts
exactly when a loop of it can read one text in two ways.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from strictwire.check.pattern import Chars, Choice, NotRead, Part, Ranges, Repeat, Sequence, parse_pattern

MAX_POSITIONS: Final = 80
"""Characters of an expression that are judged; the pairs of them are walked."""

COPIES: Final = 3
"""A counted repetition is judged by at most this many copies: more of the same adds no new kind of ambiguity."""

Pair: TypeAlias = tuple[int, int]


class _Positions:
    """Glushkov's construction: which character of the expression may follow which, and in how many ways."""

    def __init__(self) -> None:
        self.sets: list[Ranges] = []
        self.follow: Counter[tuple[int, int]] = Counter()

    def add(self, part: Part) -> tuple[bool, frozenset[int], frozenset[int]]:
        """Whether the part may be empty, and the characters it may begin and end with."""
        if isinstance(part, Chars):
            if len(self.sets) >= MAX_POSITIONS:
                raise NotRead("the expression is too long to judge")
            self.sets.append(part.ranges)
            one = frozenset({len(self.sets) - 1})
            return False, one, one
        if isinstance(part, Choice):
            added = [self.add(each) for each in part.parts]
            return (
                any(empty for empty, _, _ in added),
                frozenset().union(*(first for _, first, _ in added)),
                frozenset().union(*(last for _, _, last in added)),
            )
        if isinstance(part, Sequence):
            return self._chain([self.add(each) for each in part.parts])
        return self._repeat(part)

    def _chain(
        self, added: list[tuple[bool, frozenset[int], frozenset[int]]]
    ) -> tuple[bool, frozenset[int], frozenset[int]]:
        empty, first, last = True, frozenset[int](), frozenset[int]()
        for next_empty, next_first, next_last in added:
            self._join(last, next_first)
            first = first | next_first if empty else first
            last = last | next_last if next_empty else next_last
            empty = empty and next_empty
        return empty, first, last

    def _repeat(self, part: Repeat) -> tuple[bool, frozenset[int], frozenset[int]]:
        least = min(part.least, COPIES - 1)
        most = COPIES if part.most is None else min(part.most, COPIES)
        if part.most is None:
            empty, first, last = self.add(part.part)
            self._join(last, first)
            return empty or part.least == 0, first, last
        most = least if part.least == part.most else max(most, least)
        copies = [self.add(part.part) for _ in range(most)]
        optional = [(empty or index >= least, first, last) for index, (empty, first, last) in enumerate(copies)]
        return self._chain(optional)

    def _join(self, lasts: frozenset[int], firsts: frozenset[int]) -> None:
        for last in lasts:
            for first in firsts:
                self.follow[last, first] += 1


@lru_cache(maxsize=1024)
def is_catastrophic(text: str) -> bool:
    """Whether some texts take a backtracking engine exponential time: a loop that can read one text in two ways.

    An expression that cannot be read or is too long to judge is not called catastrophic.
    """
    # Two ways through a loop need a repeated group.
    if not re.search(r"\)[*+{?]", text):
        return False
    try:
        positions = _Positions()
        positions.add(parse_pattern(text))
    except (NotRead, RecursionError):
        return False
    return _is_ambiguous(positions)


def _is_ambiguous(positions: _Positions) -> bool:
    """Exponential ambiguity (Weber and Seidl): a cycle of pairs that leaves the diagonal and comes back."""
    after: dict[int, list[int]] = {}
    for one, other in positions.follow:
        after.setdefault(one, []).append(other)
    meets = {
        (one, other)
        for one, left in enumerate(positions.sets)
        for other, right in enumerate(positions.sets)
        if _overlap(left, right)
    }
    for component in _components(after, meets):
        on_diagonal = {one for one, other in component if one == other}
        if on_diagonal and len(on_diagonal) < len(component):
            return True
        if any(positions.follow[one, other] > 1 for one in on_diagonal for other in on_diagonal):
            return True
    return False


def _overlap(left: Ranges, right: Ranges) -> bool:
    return any(first <= end and start <= last for first, last in left for start, end in right)


def _components(after: dict[int, list[int]], meets: set[Pair]) -> Iterator[set[Pair]]:
    """Cycles of pairs that are reached from the diagonal, one component each."""
    search = _Search(after, meets)
    for one in after:
        if (one, one) not in search.index:
            yield from search.run((one, one))


class _Search:
    """Tarjan's algorithm without recursion."""

    def __init__(self, after: dict[int, list[int]], meets: set[Pair]) -> None:
        self.after = after
        self.meets = meets
        self.index: dict[Pair, int] = {}
        self.low: dict[Pair, int] = {}
        self.path: list[Pair] = []
        self.on_path: set[Pair] = set()
        self.work: list[tuple[Pair, Iterator[Pair]]] = []

    def run(self, start: Pair) -> Iterator[set[Pair]]:
        self._enter(start)
        while self.work:
            pair, rest = self.work[-1]
            child = next(rest, None)
            if child is None:
                yield from self._leave(pair)
            elif child not in self.index:
                self._enter(child)
            elif child in self.on_path:
                self.low[pair] = min(self.low[pair], self.index[child])

    def _successors(self, pair: Pair) -> Iterator[Pair]:
        lefts, rights = (self.after.get(each, ()) for each in pair)
        return ((left, right) for left in lefts for right in rights if (left, right) in self.meets)

    def _enter(self, pair: Pair) -> None:
        self.index[pair] = self.low[pair] = len(self.index)
        self.path.append(pair)
        self.on_path.add(pair)
        self.work.append((pair, self._successors(pair)))

    def _leave(self, pair: Pair) -> Iterator[set[Pair]]:
        self.work.pop()
        if self.work:
            above = self.work[-1][0]
            self.low[above] = min(self.low[above], self.low[pair])
        if self.low[pair] == self.index[pair]:
            cut = self.path.index(pair)
            component, self.path = set(self.path[cut:]), self.path[:cut]
            self.on_path -= component
            if len(component) > 1 or pair in set(self._successors(pair)):
                yield component
