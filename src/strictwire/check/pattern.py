"""Parses regular expressions into syntax trees, and generates strings that match them.

Supports the syntax that JSON Schema patterns use: ECMA-262 without back references. The content of a look-around
`(?=...)` is not kept, so a generated string may not match; callers verify generated strings with the real engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""A set of code points, as sorted pairs of first and last."""

MAX_CODE_POINT: Final = 0x10FFFF

ANY_CHARACTER: Final[Ranges] = ((0, 9), (11, MAX_CODE_POINT))
"""What `.` matches: every code point but the line feed."""


class UnsupportedPattern(ValueError):
    """The expression is invalid, or uses syntax that this parser does not support."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other; no parts match the empty string."""

    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several alternatives."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repeated part; `most` is None if the repetition is unbounded."""

    part: Part
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition that matches no character: `^`, `$`, or `other` (a word boundary or a look-around)."""

    kind: str


Part: TypeAlias = Chars | Sequence | Choice | Repeat | Assertion

_CLASSES: Final[dict[str, Ranges]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": (
        (9, 13),
        (32, 32),
        (160, 160),
        (5760, 5760),
        (8192, 8202),
        (8232, 8233),
        (8239, 8239),
        (8287, 8287),
        (12288, 12288),
        (65279, 65279),
    ),
}
_CONTROLS: Final = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "0": 0}
_COUNT: Final = re.compile(r"\{(\d+)(,(\d*))?\}")
_GROUP: Final = re.compile(r"\?(?::|=|!|<=|<!|P?<[A-Za-z_]\w*>)")


class _Parser:
    """Recursive descent parser."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self) -> str:
        if self.at >= len(self.text):
            raise UnsupportedPattern("unexpected end of the expression")
        self.at += 1
        return self.text[self.at - 1]

    def choice(self) -> Part:
        parts = [self.sequence()]
        while self.peek() == "|":
            self.take()
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Part:
        parts: list[Part] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated(self.atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self, part: Part) -> Part:
        while self.peek() in ("*", "+", "?", "{"):
            if self.peek() == "{":
                count = _COUNT.match(self.text, self.at)
                if count is None:
                    return part
                self.at = count.end()
                least = int(count[1])
                most = least if count[2] is None else (int(count[3]) if count[3] else None)
            else:
                least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self.take()]
            if self.peek() == "?":
                self.take()
            part = Repeat(part, least, most)
        return part

    def atom(self) -> Part:
        char = self.take()
        if char == "(":
            return self.group()
        if char == "[":
            return Chars(self.char_set())
        if char == ".":
            return Chars(ANY_CHARACTER)
        if char in "^$":
            return Assertion(char)
        if char == "\\":
            return self.escape()
        return Chars(((ord(char), ord(char)),))

    def group(self) -> Part:
        opening = _GROUP.match(self.text, self.at)
        if opening is not None:
            self.at = opening.end()
        elif self.peek() == "?":
            raise UnsupportedPattern("unsupported kind of group")
        part = self.choice()
        if self.take() != ")":
            raise UnsupportedPattern("a group is not closed")
        is_assertion = opening is not None and opening[0] in ("?=", "?!", "?<=", "?<!")
        return Assertion("other") if is_assertion else part

    def escape(self) -> Part:
        if self.peek() in "bB" and self.peek():
            self.take()
            return Assertion("other")
        return Chars(self.escaped_set())

    def escaped_set(self) -> Ranges:
        char = self.take()
        if char.lower() in _CLASSES:
            ranges = _CLASSES[char.lower()]
            return ranges if char.islower() else _complement(ranges)
        if char in "pP" and self.peek() == "{":
            self.at = self.text.index("}", self.at) + 1 if "}" in self.text[self.at :] else len(self.text)
            return ((48, 57), (65, 90), (97, 122), (192, MAX_CODE_POINT)) if char == "p" else ((0, 47),)
        if char in "123456789k":
            raise UnsupportedPattern("back references are not supported")
        point = self.code_point(char)
        return ((point, point),)

    def code_point(self, char: str) -> int:
        if char in _CONTROLS:
            return _CONTROLS[char]
        width = {"x": 2, "u": 4}.get(char)
        digits = self.text[self.at : self.at + (width or 0)]
        if width and re.fullmatch(r"[0-9A-Fa-f]+", digits) and len(digits) == width:
            self.at += width
            return int(digits, 16)
        return ord(char)

    def char_set(self) -> Ranges:
        is_negated = self.peek() == "^"
        if is_negated:
            self.take()
        ranges: list[tuple[int, int]] = []
        while self.peek() != "]":
            first = self.set_member()
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.take()
                last = self.set_member()
                ranges.append((first[0][0], max(first[0][0], last[-1][1])))
            else:
                ranges.extend(first)
        self.take()
        merged = _merge(ranges)
        return _complement(merged) if is_negated else merged

    def set_member(self) -> Ranges:
        char = self.take()
        if char != "\\":
            return ((ord(char), ord(char)),)
        if self.peek() == "b":
            self.take()
            return ((8, 8),)
        return self.escaped_set()


def _merge(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    gaps, start = [], 0
    for first, last in _merge(list(ranges)):
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    if start <= MAX_CODE_POINT:
        gaps.append((start, MAX_CODE_POINT))
    return tuple(gaps)


@lru_cache(maxsize=1024)
def parse_pattern(text: str) -> Part:
    """Parse an expression into its syntax tree. Raises UnsupportedPattern."""
    parser = _Parser(text)
    part = parser.choice()
    if parser.peek():
        raise UnsupportedPattern("unmatched closing bracket")
    return part


MAX_SAMPLE: Final = 10_000
"""Longest sample of a repetition. Nested repetitions such as `((a{1000}){1000}){1000}` would otherwise fill the memory."""

_PREFERRED: Final = tuple(map(ord, "a0A-_ ./:"))
"""Characters that make generated strings readable, the preferred first."""


def sample_text(text: str, extra: int = 0) -> str:
    """A string that the expression probably matches, with `extra` more rounds of each repetition.

    Raises UnsupportedPattern.
    """
    return _sample(parse_pattern(text), extra)


def _sample(part: Part, extra: int) -> str:
    if isinstance(part, Chars):
        if not part.ranges:
            raise UnsupportedPattern("an empty character set matches nothing")
        preferred = (point for point in _PREFERRED if any(first <= point <= last for first, last in part.ranges))
        return chr(next(preferred, part.ranges[0][0]))
    if isinstance(part, Assertion):
        return ""
    if isinstance(part, Sequence):
        return "".join(_sample(each, extra) for each in part.parts)
    if isinstance(part, Choice):
        return _sample(part.parts[extra % len(part.parts)], extra)
    rounds = part.least + extra if part.most is None else min(part.least + extra, part.most)
    repeated = _sample(part.part, extra)
    if len(repeated) * rounds > MAX_SAMPLE:
        raise UnsupportedPattern(f"its shortest match has more than {MAX_SAMPLE} characters")
    return repeated * rounds


def longest_match(text: str) -> int | None:
    """The length of the longest string that an anchored expression matches; None if unbounded or unsupported."""
    try:
        part = parse_pattern(text)
    except (UnsupportedPattern, RecursionError):
        return None
    is_whole = text.startswith("^") and text.endswith("$") and not text.endswith("\\$") and not isinstance(part, Choice)
    return _longest(part) if is_whole else None


def _longest(part: Part) -> int | None:
    if isinstance(part, Chars | Assertion):
        return 1 if isinstance(part, Chars) else 0
    if isinstance(part, Repeat):
        inner = _longest(part.part)
        return None if inner is None or part.most is None else inner * part.most
    lengths = [_longest(each) for each in part.parts]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    return sum(known) if isinstance(part, Sequence) else max(known)
