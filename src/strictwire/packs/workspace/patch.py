"""Unified diffs of one file: parsed strictly, and applied exactly at the given lines or not at all. Pure.

There is no fuzz and no offset search: a patch that was made from another text does not apply. Lines end with LF; a CR before
it is part of the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_LINES: Final = 100_000
"""Most lines in one patch."""

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?", re.ASCII)
_NO_END: Final = "\\ No newline at end of file"


class PatchInvalid(ValueError):
    """The text is not a valid patch. Carries the line number, counted from 1, and what was expected there."""

    def __init__(self, line: int, expected: str) -> None:
        super().__init__(line, expected)
        self.line = line
        self.expected = expected

    def __str__(self) -> str:
        return f"line {self.line} of the patch: expected {self.expected}"


class PatchRejected(ValueError):
    """The patch does not apply to the text. Carries the number of the hunk, counted from 1."""

    def __init__(self, hunk: int) -> None:
        super().__init__(hunk)
        self.hunk = hunk

    def __str__(self) -> str:
        return f"hunk {self.hunk} does not match the content of the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One change: the old lines at a position are replaced by the new lines."""

    start: int
    """Number of lines before it in the old text."""
    old: tuple[str, ...]
    new: tuple[str, ...]
    """Lines with their line ends."""


def parse_patch(text: str) -> tuple[Hunk, ...]:
    """Parse a patch. Raises PatchInvalid if it is malformed, has more than one file, or changes nothing."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if len(lines) > MAX_LINES:
        raise PatchInvalid(MAX_LINES, "fewer lines")
    at = _skip_header(lines)
    hunks: list[Hunk] = []
    while at < len(lines):
        hunk, at = _hunk(lines, at)
        hunks.append(hunk)
    if not any(hunk.old != hunk.new for hunk in hunks):
        raise PatchInvalid(len(lines) + 1, "a hunk that changes something")
    return tuple(hunks)


def apply_patch(text: str, hunks: tuple[Hunk, ...]) -> str:
    """Apply hunks to a text. Raises PatchRejected if a hunk does not match exactly at its position."""
    lines = _keep_ends(text)
    made: list[str] = []
    done = 0
    for number, hunk in enumerate(hunks, start=1):
        end = hunk.start + len(hunk.old)
        if hunk.start < done or tuple(lines[hunk.start : end]) != hunk.old or hunk.start > len(lines):
            raise PatchRejected(number)
        made += [*lines[done : hunk.start], *hunk.new]
        done = end
    result = [*made, *lines[done:]]
    # Only the last line of a text may lack a line end.
    if any(not line.endswith("\n") for line in result[:-1]):
        raise PatchRejected(len(hunks))
    return "".join(result)


def _keep_ends(text: str) -> list[str]:
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _skip_header(lines: list[str]) -> int:
    """Return the index of the first hunk. The two file name lines and git's lines before them are optional."""
    at = 0
    while at < len(lines) and lines[at].startswith(("diff --git ", "index ", "new file mode ", "old mode ", "new mode ")):
        at += 1
    if at + 1 < len(lines) and lines[at].startswith("--- ") and lines[at + 1].startswith("+++ "):
        at += 2
    return at


def _hunk(lines: list[str], at: int) -> tuple[Hunk, int]:
    head = _HUNK.fullmatch(lines[at])
    if head is None:
        raise PatchInvalid(at + 1, "a hunk header, '@@ -line,count +line,count @@'")
    want = {"-": _count(head[2]), "+": _count(head[4])}
    sides: dict[str, list[str]] = {"-": [], "+": []}
    last = ""
    at += 1
    while any(len(sides[side]) < want[side] for side in sides) or lines[at : at + 1] == [_NO_END]:
        line = lines[at] if at < len(lines) else ""
        if line == _NO_END and last:
            _cut_end(sides, last)
            last = ""
        else:
            last = _take(line, sides, at)
        at += 1
    if any(len(sides[side]) != want[side] for side in sides):
        raise PatchInvalid(at, "as many lines as the hunk header says")
    # With no old lines, the header gives the line after which to insert; otherwise the first old line.
    start = int(head[1]) - (1 if sides["-"] else 0)
    if start < 0:
        raise PatchInvalid(at, "line numbers counted from 1")
    return Hunk(start=start, old=tuple(sides["-"]), new=tuple(sides["+"])), at


_SIDES: Final = {" ": "-+", "-": "-", "+": "+"}


def _take(line: str, sides: dict[str, list[str]], at: int) -> str:
    """Add a line of a hunk to its sides. Returns these sides."""
    on = _SIDES.get(line[:1])
    if on is None:
        raise PatchInvalid(at + 1, "a line of the hunk that begins with a space, '-' or '+'")
    for side in on:
        sides[side].append(line[1:] + "\n")
    return on


def _cut_end(sides: dict[str, list[str]], on: str) -> None:
    for side in on:
        sides[side][-1] = sides[side][-1][:-1]


def _count(text: str | None) -> int:
    return 1 if text is None else int(text)
