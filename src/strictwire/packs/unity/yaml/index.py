"""The header index: which documents a file has and where, without reading them.

Every document begins with `--- !u!<class id> &<file id>`, and ` stripped` if it only stands for an object of a prefab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise
from typing import Final

from msgspec import Struct

from strictwire.packs.unity.yaml.faults import Fault, Problem
from strictwire.packs.unity.yaml.values import maybe_file_id

MAX_PROBLEMS: Final = 100
"""Problems of one kind that are reported. The line of each is counted from the start of the file."""

_MARK: Final = b"--- "
_HEADER: Final = re.compile(rb"--- !u!(\d{1,10}) &(-?\d{1,20})( stripped)?[ \t]*\r?(?:\n|\Z)")
_ANY_ID: Final = re.compile(rb"--- !u!\d+ &-?\d+(?: stripped)?\s")
_LINE_BLOCK: Final = 16 * 1024
"""Bytes in which line ends are counted for one question: about a microsecond."""
_CONFLICTS: Final = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_OUTER_MARKS: Final = (b"<<<<<<< ", b">>>>>>> ")


class Header(Struct, frozen=True, gc=False):
    """One document. A struct, because a scene has tens of thousands of them."""

    class_id: int
    """Which type of object it is: 1 is a GameObject."""
    file_id: int
    stripped: bool
    start: int
    """Offset of the header line."""
    body: int
    """Offset of the line after it."""
    end: int
    """Offset of the next document, or the length of the file."""


def index_documents(raw: bytes) -> tuple[Header, ...]:
    """The documents of a file in their order. What is not a valid header ends the document before it and has none."""
    found: list[Header] = []
    starts = list(_lines_beginning_with(raw, _MARK))
    for start, end in pairwise([*starts, len(raw)]):
        header = _HEADER.match(raw, start)
        file_id = maybe_file_id(header[2]) if header else None
        if header is not None and file_id is not None:
            found.append(Header(int(header[1]), file_id, header[3] is not None, start, header.end(), end))
    return tuple(found)


def has_documents(raw: bytes) -> bool:
    """Whether a file has a document at all. Even an empty scene has its settings, so one without is truncated."""
    return raw.startswith(_MARK) or b"\n" + _MARK in raw


def _lines_beginning_with(raw: bytes, mark: bytes) -> Iterator[int]:
    """Offsets of the lines that begin with a mark."""
    if raw.startswith(mark):
        yield 0
    at = raw.find(b"\n" + mark)
    while at >= 0:
        yield at + 1
        at = raw.find(b"\n" + mark, at + len(mark))


def line_of(raw: bytes, offset: int) -> int:
    """The number of the line at an offset, counted from 1. For more than a few offsets of one text: `LineNumbers`."""
    return raw.count(b"\n", 0, offset) + 1


class LineNumbers:
    """Line numbers of one text. Line ends are counted once per block, so that a file with 100,000 faults costs no more
    than a second instead of one pass over the file for each of them.
    """

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._before: list[int] = []

    def at(self, offset: int) -> int:
        """The number of the line at an offset, counted from 1."""
        raw, size = self._raw, _LINE_BLOCK
        if not self._before:
            counts = (raw.count(b"\n", start, start + size) for start in range(0, len(raw), size))
            self._before = list(accumulate(counts, initial=1))
        block = offset // size
        return self._before[block] + raw.count(b"\n", block * size, offset)


def has_conflict_mark(raw: bytes) -> bool:
    """Whether a line begins like the first or the last marker of an unfinished merge. In Unity YAML one is enough."""
    return any(_begins_line(raw, mark) for mark in _OUTER_MARKS)


def has_conflict(raw: bytes) -> bool:
    """Whether a text of any kind holds an unfinished merge. Single markers occur in documentation, so both must be there."""
    return all(_begins_line(raw, mark) for mark in _OUTER_MARKS)


def _begins_line(raw: bytes, mark: bytes) -> bool:
    # Most files have no `<` at all, which is found out ten times as fast.
    return mark[:1] in raw and (raw.startswith(mark) or b"\n" + mark in raw)


def find_problems(raw: bytes, headers: Sequence[Header]) -> tuple[Problem, ...]:
    """What is wrong with a file as a whole: conflict markers, bad headers and ids, duplicate ids, a missing end.

    Damage inside a document is found when the document is read.
    """
    problems: list[Problem] = []
    for found in (_find_conflicts(raw), _find_bad_headers(raw, headers), _find_duplicates(raw, headers)):
        problems += islice(found, MAX_PROBLEMS)
    last = headers[-1] if headers else None
    is_cut = last.body >= last.end if last is not None else not has_documents(raw)
    if is_cut or not raw.endswith(b"\n"):
        problems.append(Problem(Fault.TRUNCATED, line_of(raw, len(raw)), last.file_id if last else None))
    return tuple(sorted(problems, key=lambda problem: problem.line))


def _find_conflicts(raw: bytes) -> Iterator[Problem]:
    for mark in _CONFLICTS:
        for at in _lines_beginning_with(raw, mark):
            if raw[at + len(mark) : at + len(mark) + 1] in (b" ", b"\r", b"\n", b""):
                yield Problem(Fault.CONFLICT_MARKER, line_of(raw, at))


def _find_bad_headers(raw: bytes, headers: Sequence[Header]) -> Iterator[Problem]:
    good = {header.start for header in headers}
    for start in _lines_beginning_with(raw, _MARK):
        if start not in good:
            is_out_of_range = _ANY_ID.match(raw, start)
            yield Problem(Fault.ID_OUT_OF_RANGE if is_out_of_range else Fault.BAD_HEADER, line_of(raw, start))


def _find_duplicates(raw: bytes, headers: Sequence[Header]) -> Iterator[Problem]:
    if len({header.file_id for header in headers}) == len(headers):
        return
    seen: set[int] = set()
    for header in headers:
        if header.file_id in seen:
            yield Problem(Fault.DUPLICATE_ID, line_of(raw, header.start), header.file_id)
        seen.add(header.file_id)
