"""Conditions on the arguments of a call: where to look (a JSON Pointer with wildcards), and what to find there. Pure.

    /path              the argument `path`
    /options/path      the member `path` of the argument `options`
    /files/*/path      `path` in every item or member of `files`
    /**/path           `path` at any depth
    /a~1b/c~0d         members with `/` (~1) or `~` (~0) in their names

Names are compared with the parsed arguments, member by member, so no other spelling leads to the same place. Where a value
is a list or an object, everything inside it is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final, TypeAlias

from strictwire.canon.json import JsonValue

Scalar: TypeAlias = str | int | float | bool


class Wildcard(Enum):
    """A segment that stands for more than one name."""

    EACH = "*"
    """Every member of an object, or every item of a list."""
    ANY_DEPTH = "**"
    """Any number of segments, also none."""


Segment: TypeAlias = str | Wildcard

MAX_COMPARED: Final = 100_000
"""Values that are compared with one pattern, about 0.1 s of work. With `**` a value can be compared once for each level."""

_WILDCARDS: Final[Mapping[str, Wildcard]] = {each.value: each for each in Wildcard}
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,4})?")
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")


def parse_path(text: str) -> tuple[Segment, ...]:
    """The segments of a path. Raises ValueError, with the form to write instead."""
    if not text.startswith("/"):
        escaped = text.replace("~", "~0").replace("/", "~1")
        raise ValueError(f"{text!r} is not a JSON Pointer; write {'/' + escaped.replace('.', '/')!r}")
    if _BAD_ESCAPE.search(text):
        raise ValueError(f"{text!r}: write ~0 for a tilde and ~1 for a slash inside a name")
    segments = tuple(_WILDCARDS.get(each) or _unescape(each) for each in text[1:].split("/"))
    if segments.count(Wildcard.ANY_DEPTH) > 1:
        raise ValueError(f"{text!r}: only one segment may be **")
    return segments


def _unescape(segment: str) -> str:
    return segment.replace("~1", "/").replace("~0", "~")


def values_at(value: JsonValue, path: Sequence[Segment]) -> Iterator[JsonValue]:
    """Every value that the path leads to.

    A name that meets a list applies to each of its items: a list of files must not hide what one file could not.
    """
    if not path:
        yield value
        return
    segment, rest = path[0], path[1:]
    if segment is Wildcard.ANY_DEPTH:
        # A name applies to the items of a list, which are visited below.
        if not (isinstance(value, list) and rest and _is_name(rest[0])):
            yield from values_at(value, rest)
        # Without a rest, the value itself stands for everything inside it.
        for child in _children(value) if rest else ():
            yield from values_at(child, path)
    elif segment is Wildcard.EACH:
        for child in _children(value):
            yield from values_at(child, rest)
    elif isinstance(value, dict) and segment in value:
        yield from values_at(value[str(segment)], rest)
    elif isinstance(value, list):
        yield from _values_in_list(value, path)


def _values_in_list(items: list[JsonValue], path: Sequence[Segment]) -> Iterator[JsonValue]:
    if _is_name(path[0]):
        for item in items:
            yield from values_at(item, path)
    elif int(str(path[0])) < len(items):
        yield from values_at(items[int(str(path[0]))], path[1:])


def _is_name(segment: Segment) -> bool:
    """Whether a segment can only be the name of a member, and not the index of an item."""
    return isinstance(segment, str) and not _INDEX.fullmatch(segment)


def _children(value: JsonValue) -> Sequence[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A path, and a shell pattern or a value for what it leads to."""

    path: tuple[Segment, ...]
    pattern: str
    number: int | float | None = field(default=None)
    """The pattern as a number, if it is one: numbers are compared by value, so 22 and 22.0 are the same."""

    def matches_each(self, arguments: JsonValue) -> list[bool] | None:
        """For every text, number and boolean that the path leads to, whether it matches. Null counts as absent.

        None if there are more than MAX_COMPARED, so that the rule cannot be decided.
        """
        leaves = (leaf for value in values_at(arguments, self.path) for leaf in _leaves(value))
        found = [self._matches(leaf) for leaf in islice(leaves, MAX_COMPARED + 1)]
        return found if len(found) <= MAX_COMPARED else None

    def _matches(self, leaf: Scalar) -> bool:
        if isinstance(leaf, str):
            return fnmatchcase(leaf, self.pattern)
        if self.number is not None and not isinstance(leaf, bool):
            return leaf == self.number
        return fnmatchcase(_text(leaf), self.pattern)


def conditions_of(arguments: Mapping[str, Scalar]) -> tuple[Condition, ...]:
    """The conditions of a table from paths to patterns or values. Raises ValueError: a path is malformed."""
    return tuple(
        Condition(path=parse_path(path), pattern=_text(wanted), number=_number(_text(wanted)))
        for path, wanted in arguments.items()
    )


def _leaves(value: JsonValue) -> Iterator[Scalar]:
    if isinstance(value, dict | list):
        for child in _children(value):
            yield from _leaves(child)
    elif value is not None:
        yield value


def _text(value: Scalar) -> str:
    """A scalar as text; a whole number has no fraction, however it was written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _number(text: str) -> int | float | None:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    return int(text) if found[1] is None and found[2] is None else float(text)
