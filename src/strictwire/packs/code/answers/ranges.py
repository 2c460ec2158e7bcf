"""Positions and ranges of LSP, read from an engine's JSON and written into answers.

An engine is not trusted: whatever is not a range is None, and nothing raises. Reversed ranges are swapped.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final, NamedTuple, Self

from strictwire.canon.json import JsonObject, JsonValue

MAX_NUMBER: Final = 2**31 - 1
"""LSP's `uinteger`; a larger line or character is nonsense."""


class Range(NamedTuple):
    """Zero-based lines and UTF-16 characters. Compares in the order of A.3: start, then end."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int

    @classmethod
    def ordered(cls, start: tuple[int, int], end: tuple[int, int]) -> Self:
        """A range from two positions in either order."""
        return cls(*start, *end) if start <= end else cls(*end, *start)

    @property
    def start(self) -> str:
        """`line:character`, the form of ids and of the compact text."""
        return f"{self.start_line}:{self.start_character}"

    @property
    def end(self) -> str:
        """See `start`."""
        return f"{self.end_line}:{self.end_character}"

    def contains(self, line: int, character: int) -> bool:
        """Whether a position lies in it, its end included."""
        return (self.start_line, self.start_character) <= (line, character) <= (self.end_line, self.end_character)

    def holds(self, other: Range) -> bool:
        """Whether another range lies in it."""
        return self[:2] <= other[:2] and other[2:] <= self[2:]

    def as_json(self) -> JsonObject:
        """The member `range` of an answer."""
        return {
            "start": {"line": self.start_line, "character": self.start_character},
            "end": {"line": self.end_line, "character": self.end_character},
        }


def maybe_range(value: JsonValue) -> Range | None:
    """A valid range, or None."""
    if not isinstance(value, dict):
        return None
    start, end = _maybe_position(value.get("start")), _maybe_position(value.get("end"))
    return None if start is None or end is None else Range.ordered(start, end)


def repaired_range(value: JsonValue) -> Range:
    """A range in which negative, infinite and missing numbers are 0 (A.3, document symbols)."""
    ends = value if isinstance(value, dict) else {}
    return Range.ordered(_repaired_position(ends.get("start")), _repaired_position(ends.get("end")))


def _maybe_position(value: Any) -> tuple[int, int] | None:
    if not isinstance(value, dict):
        return None
    line, character = _maybe_count(value.get("line")), _maybe_count(value.get("character"))
    return None if line is None or character is None else (line, character)


def _maybe_count(value: Any) -> int | None:
    # `type`, not isinstance: True is an int in Python and not a line.
    return value if type(value) is int and 0 <= value <= MAX_NUMBER else None


def _repaired_position(value: Any) -> tuple[int, int]:
    members = value if isinstance(value, dict) else {}
    return _repaired(members.get("line")), _repaired(members.get("character"))


def _repaired(value: Any) -> int:
    if type(value) is float:
        value = int(value) if isfinite(value) else 0
    return min(value, MAX_NUMBER) if type(value) is int and value > 0 else 0
