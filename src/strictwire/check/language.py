"""The strings that patterns match, as finite automata: decides emptiness and inclusion, with a shortest example.

A JSON Schema pattern is a search: it may match anywhere in the string unless `^` or `$` anchors it. An automaton here is a
nondeterministic one with conditional edges for the anchors; it is made deterministic on the fly, by sets of states.
Word boundaries, look-arounds and Unicode classes are not supported, and say so.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from strictwire.check import pattern as syntax
from strictwire.check.pattern import UnsupportedPattern, parse_pattern

MAX_STATES: Final = 3_000
"""Maximum states of one automaton. `{1,512}` needs 512; a bound of 4,096 belongs in `maxLength`."""

MAX_VISITS: Final = 20_000
"""Maximum combinations of states that one search visits, about a tenth of a second."""

States: TypeAlias = frozenset[int]
"""The states that the automaton may be in."""

FOUND: Final[States] = frozenset({-1})
"""The pattern has matched: whatever follows, the string matches."""

_INEXACT: Final = re.compile(r"\\[pPc]|\\[ux]\{")
"""Syntax that the parser reads approximately, which is enough to generate strings but not to compare patterns."""


@dataclass(slots=True)
class Automaton:
    """The automaton of one pattern. Mutable while it is built and as a cache of its transitions."""

    chars: list[list[tuple[syntax.Ranges, int]]] = field(default_factory=list)
    free: list[list[tuple[str, int]]] = field(default_factory=list)
    """Edges that consume no character, with the condition: "" (none), "^" or "$"."""
    final: int = 0
    known: dict[tuple[States, int], States] = field(default_factory=dict)

    def start(self) -> States:
        """The states before the first character."""
        return self._closure({0}, frozenset({"", "^"}))

    def step(self, states: States, point: int) -> States:
        """The states after one more character."""
        if states is FOUND:
            return FOUND
        key = (states, point)
        if key not in self.known:
            after = {target for state in states for ranges, target in self.chars[state] if _contains(ranges, point)}
            # The search may begin at every character, so the first state stays.
            self.known[key] = self._closure(after | {0}, frozenset({""}))
        return self.known[key]

    def accepts(self, states: States, *, is_empty: bool) -> bool:
        """Whether the string that leads to these states matches if it ends here."""
        if states is FOUND:
            return True
        conditions = frozenset({"", "$", "^"}) if is_empty else frozenset({"", "$"})
        return self._closure(set(states), conditions) is FOUND

    def ranges(self) -> Iterable[syntax.Ranges]:
        """Every character set of the pattern."""
        return (ranges for edges in self.chars for ranges, _ in edges)

    def _closure(self, states: set[int], conditions: frozenset[str]) -> States:
        waiting, seen = list(states), set(states)
        while waiting:
            for condition, target in self.free[waiting.pop()]:
                if condition in conditions and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return FOUND if self.final in seen else frozenset(seen)

    def add_state(self) -> int:
        """A new state without edges. Raises UnsupportedPattern if there are too many."""
        if len(self.chars) >= MAX_STATES:
            raise UnsupportedPattern("the pattern is too large to compare")
        self.chars.append([])
        self.free.append([])
        return len(self.chars) - 1

    def add(self, part: syntax.Part, start: int) -> int:
        """Add a part that begins in a state. Returns the state in which it ends. Raises UnsupportedPattern."""
        if isinstance(part, syntax.Sequence):
            for each in part.parts:
                start = self.add(each, start)
            return start
        if isinstance(part, syntax.Repeat):
            return self._repeat(part, start)
        end = self.add_state()
        if isinstance(part, syntax.Choice):
            for each in part.parts:
                self.free[self.add(each, start)].append(("", end))
        elif isinstance(part, syntax.Chars):
            self.chars[start].append((part.ranges, end))
        elif part.kind in ("^", "$"):
            self.free[start].append((part.kind, end))
        else:
            raise UnsupportedPattern("word boundaries and look-arounds cannot be compared")
        return end

    def _repeat(self, part: syntax.Repeat, start: int) -> int:
        for _ in range(part.least):
            start = self.add(part.part, start)
        end = self.add_state()
        self.free[start].append(("", end))
        if part.most is None:
            loop = self.add_state()
            self.free[start].append(("", loop))
            again = self.add(part.part, loop)
            self.free[again] += [("", loop), ("", end)]
            return end
        for _ in range(part.most - part.least):
            start = self.add(part.part, start)
            self.free[start].append(("", end))
        return end


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> Automaton:
    """The automaton of a pattern. Raises UnsupportedPattern."""
    if _INEXACT.search(text):
        raise UnsupportedPattern("Unicode classes cannot be compared")
    automaton = Automaton()
    try:
        automaton.final = automaton.add(parse_pattern(text), automaton.add_state())
    except RecursionError:
        raise UnsupportedPattern("the pattern is nested too deeply") from None
    return automaton


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """The strings that match every pattern and have a length within the bounds."""

    patterns: frozenset[str] = frozenset()
    low: int = 0
    high: int | None = None


def find_string(source: Strings, targets: Sequence[Strings] = ()) -> str | None:
    """A shortest string of `source` that is in none of the targets, or None if there is none.

    Raises UnsupportedPattern if a pattern cannot be compared or the search is too large.
    """
    patterns = sorted(source.patterns.union(*(target.patterns for target in targets)))
    automata = {text: compile_pattern(text) for text in patterns}
    if not patterns:
        return _find_length(source, targets)
    letters = _letters([ranges for each in automata.values() for ranges in each.ranges()])
    # Beyond every bound, one more character changes no comparison of lengths.
    cap = 1 + max(bound for each in (source, *targets) for bound in (each.low, each.high or 0))
    first = (0, tuple(each.start() for each in automata.values()))
    waiting, seen = deque([(first, "")]), {first}
    while waiting:
        (length, states), text = waiting.popleft()
        matched = {
            pattern
            for (pattern, each), state in zip(automata.items(), states, strict=True)
            if each.accepts(state, is_empty=not text)
        }
        if _is_in(source, matched, length) and not any(_is_in(target, matched, length) for target in targets):
            return text
        if source.high is not None and length >= source.high:
            continue
        for letter in letters:
            after = tuple(each.step(state, letter) for each, state in zip(automata.values(), states, strict=True))
            key = (min(length + 1, cap), after)
            if key not in seen:
                seen.add(key)
                waiting.append((key, text + chr(letter)))
        if len(seen) > MAX_VISITS:
            raise UnsupportedPattern("the patterns are too large to compare")
    return None


def _is_in(strings: Strings, matched: set[str], length: int) -> bool:
    return strings.patterns <= matched and strings.low <= length and (strings.high is None or length <= strings.high)


def _find_length(source: Strings, targets: Sequence[Strings]) -> str | None:
    """Without patterns, only lengths differ: try those next to a bound."""
    bounds = {source.low, *(edge for each in targets for edge in (each.low - 1, (each.high or 0) + 1))}
    for length in sorted(bounds):
        if _is_in(source, set(), length) and not any(_is_in(target, set(), length) for target in targets):
            return "a" * length
    return None


_PREFERRED: Final = tuple(map(ord, "a0A-_ ./:é"))
"""Characters that make an example readable, the preferred first."""


def _letters(sets: list[syntax.Ranges]) -> list[int]:
    """One character for each class of characters that no set tells apart, the most readable first."""
    cuts = {0, 0xE000} | {edge for ranges in sets for first, last in ranges for edge in (first, last + 1)}
    candidates = [*_PREFERRED, *range(0x61, 0x7B), *sorted(cut for cut in cuts if cut <= syntax.MAX_CODE_POINT)]
    found: dict[tuple[bool, ...], int] = {}
    for point in candidates:
        if not 0xD800 <= point < 0xE000:
            # Surrogates are not characters of a JSON text.
            found.setdefault(tuple(_contains(ranges, point) for ranges in sets), point)
    return list(found.values())


def _contains(ranges: syntax.Ranges, point: int) -> bool:
    return any(first <= point <= last for first, last in ranges)
