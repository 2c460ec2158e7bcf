"""Detects regular expressions that cause catastrophic backtracking (ReDoS).

The decision uses the structure of the expression, not a heuristic on its source text: a backtracking engine needs
exponential time on some inputs exactly when a loop of the expression can match one input in two ways.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from strictwire.check.pattern import (
    Assertion,
    Chars,
    Choice,
    Part,
    Ranges,
    Repeat,
    Sequence,
    UnsupportedPattern,
    parse_pattern,
)

MAX_POSITIONS: Final = 80
"""Longest expression that is analysed, in character positions. The search visits pairs of positions, so it is quadratic."""

MAX_COPIES: Final = 3
"""A counted repetition is unrolled at most this many times: more copies add no new kind of ambiguity."""

StatePair: TypeAlias = tuple[int, int]

Ends: TypeAlias = tuple[bool, frozenset[int], frozenset[int]]
"""Whether a part can match the empty string, and its possible first and last positions."""


class _Positions:
    """Glushkov automaton: which character position of the expression may follow which, and in how many ways."""

    def __init__(self) -> None:
        self.sets: list[Ranges] = []
        self.follow: Counter[tuple[int, int]] = Counter()

    def add(self, part: Part) -> Ends:
        """Add a part. Raises UnsupportedPattern if the expression has too many positions."""
        if isinstance(part, Chars):
            if len(self.sets) >= MAX_POSITIONS:
                raise UnsupportedPattern("the expression is too long to analyse")
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
        if isinstance(part, Assertion):
            return self._chain([])
        if isinstance(part, Sequence):
            return self._chain([self.add(each) for each in part.parts])
        return self._repeat(part)

    def _chain(self, added: list[Ends]) -> Ends:
        empty, first, last = True, frozenset[int](), frozenset[int]()
        for next_empty, next_first, next_last in added:
            self._join(last, next_first)
            first = first | next_first if empty else first
            last = last | next_last if next_empty else next_last
            empty = empty and next_empty
        return empty, first, last

    def _repeat(self, part: Repeat) -> Ends:
        if part.most is None:
            empty, first, last = self.add(part.part)
            self._join(last, first)
            return empty or part.least == 0, first, last
        least = min(part.least, MAX_COPIES - 1)
        most = least if part.least == part.most else max(min(part.most, MAX_COPIES), least)
        copies = [self.add(part.part) for _ in range(most)]
        optional = [(empty or index >= least, first, last) for index, (empty, first, last) in enumerate(copies)]
        return self._chain(optional)

    def _join(self, lasts: frozenset[int], firsts: frozenset[int]) -> None:
        for last in lasts:
            for first in firsts:
                self.follow[last, first] += 1


@lru_cache(maxsize=1024)
def is_catastrophic(text: str) -> bool:
    """Whether some inputs take a backtracking engine exponential time: a loop can match one input in two ways.

    Returns False for an expression that cannot be parsed or is too long to analyse.
    """
    # Fast path: exponential ambiguity needs a repeated group.
    if not re.search(r"\)[*+{?]", text):
        return False
    try:
        positions = _Positions()
        positions.add(parse_pattern(text))
    except (UnsupportedPattern, RecursionError):
        return False
    return _is_ambiguous(positions)


def _is_ambiguous(positions: _Positions) -> bool:
    """Exponential ambiguity (Weber and Seidl): a cycle of state pairs that leaves the diagonal and returns to it."""
    after: dict[int, list[int]] = {}
    for one, other in positions.follow:
        after.setdefault(one, []).append(other)
    compatible = {
        (one, other)
        for one, left in enumerate(positions.sets)
        for other, right in enumerate(positions.sets)
        if _overlap(left, right)
    }
    for component in _components(after, compatible):
        on_diagonal = {one for one, other in component if one == other}
        if on_diagonal and len(on_diagonal) < len(component):
            return True
        if any(positions.follow[one, other] > 1 for one in on_diagonal for other in on_diagonal):
            return True
    return False


def _overlap(left: Ranges, right: Ranges) -> bool:
    return any(first <= end and start <= last for first, last in left for start, end in right)


def _components(after: dict[int, list[int]], compatible: set[StatePair]) -> Iterator[set[StatePair]]:
    """The strongly connected components with a cycle that are reachable from the diagonal."""
    tarjan = _Tarjan(after, compatible)
    for one in after:
        if (one, one) not in tarjan.index:
            yield from tarjan.run((one, one))


class _Tarjan:
    """Tarjan's strongly connected components algorithm, without recursion: expressions may be long."""

    def __init__(self, after: dict[int, list[int]], compatible: set[StatePair]) -> None:
        self.after = after
        self.compatible = compatible
        self.index: dict[StatePair, int] = {}
        self.low: dict[StatePair, int] = {}
        self.path: list[StatePair] = []
        self.on_path: set[StatePair] = set()
        self.stack: list[tuple[StatePair, Iterator[StatePair]]] = []

    def run(self, start: StatePair) -> Iterator[set[StatePair]]:
        self._enter(start)
        while self.stack:
            pair, rest = self.stack[-1]
            child = next(rest, None)
            if child is None:
                yield from self._leave(pair)
            elif child not in self.index:
                self._enter(child)
            elif child in self.on_path:
                self.low[pair] = min(self.low[pair], self.index[child])

    def _successors(self, pair: StatePair) -> Iterator[StatePair]:
        lefts, rights = (self.after.get(each, ()) for each in pair)
        return ((left, right) for left in lefts for right in rights if (left, right) in self.compatible)

    def _enter(self, pair: StatePair) -> None:
        self.index[pair] = self.low[pair] = len(self.index)
        self.path.append(pair)
        self.on_path.add(pair)
        self.stack.append((pair, self._successors(pair)))

    def _leave(self, pair: StatePair) -> Iterator[set[StatePair]]:
        self.stack.pop()
        if self.stack:
            above = self.stack[-1][0]
            self.low[above] = min(self.low[above], self.low[pair])
        if self.low[pair] == self.index[pair]:
            cut = self.path.index(pair)
            component, self.path = set(self.path[cut:]), self.path[:cut]
            self.on_path -= component
            if len(component) > 1 or pair in set(self._successors(pair)):
                yield component
