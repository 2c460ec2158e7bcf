"""The files of a trail, and how to find records, hashes and checkpoints in them.

audit-log.jsonl                 the active file: the newest records, one line each
audit-log-<first>.jsonl         older files, named after their first record
audit-log.hashes                every hash of the Merkle tree, in stored order (`audit.merkle`)
audit-log.checkpoints           signed notes, one after another
audit-log.torn-<seq>            an incomplete line that a crash left where record <seq> would have been
audit-log.lock                  see `lock`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from strictwire.audit.chain import maybe_link
from strictwire.audit.checkpoint import MAX_NOTE_BYTES, find_last_note, split_notes
from strictwire.audit.merkle import HASH_BYTES, ReadHash, stored_index
from strictwire.stores.files.disk import Disk, OpenFile

ACTIVE: Final = "audit-log.jsonl"
HASHES: Final = "audit-log.hashes"
CHECKPOINTS: Final = "audit-log.checkpoints"

BLOCK: Final = 1 << 20
"""Bytes per read: large enough that system calls do not matter, small enough that memory does not."""

MAX_LINE_BYTES: Final = 32 << 20
"""Far above a record with the largest arguments and result. A longer line is split; no piece of it is a record."""

_OLDER: Final = re.compile(r"audit-log-([0-9]{12})\.jsonl")
_TORN: Final = re.compile(r"audit-log\.torn-([0-9]{12})")

_MAX_MOVES: Final = 100
"""How often in a row a file may be renamed between listing and opening. A rotation happens once in minutes."""

_FIRST_LINE_BYTES: Final = 256
"""A record states its number in its first hundred bytes."""


def older_name(first: int) -> str:
    """The name of an older file whose first record is `first`."""
    return f"audit-log-{first:012d}.jsonl"


def torn_name(seq: int) -> str:
    """The name of the file for the incomplete line found in place of record `seq`."""
    return f"audit-log.torn-{seq:012d}"


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of records."""

    name: str
    first: int | None
    """Its first record; None if it is empty or does not start with a record."""


def list_segments(disk: Disk) -> list[Segment]:
    """The older files by first record, then the active one if it exists."""
    names = disk.names()
    older = sorted((int(match[1]), name) for name in names if (match := _OLDER.fullmatch(name)))
    segments = [Segment(name, first) for first, name in older]
    return [*segments, Segment(ACTIVE, read_first(disk, ACTIVE))] if ACTIVE in names else segments


def list_torn(disk: Disk) -> list[tuple[int, str]]:
    """The incomplete lines that were set aside, by the record in whose place they were."""
    return sorted((int(match[1]), name) for name in disk.names() if (match := _TORN.fullmatch(name)))


def first_record(disk: Disk) -> int:
    """The oldest record that is still there; 0 if there is none."""
    return next((segment.first for segment in list_segments(disk) if segment.first is not None), 0)


def read_first(disk: Disk, name: str) -> int | None:
    """The number of a file's first record; None if the file is absent or does not start with a record."""
    try:
        file = disk.open(name)
    except FileNotFoundError:
        return None
    with closing(file):
        return _first_in(file)


def _first_in(file: OpenFile) -> int | None:
    link = maybe_link(file.read(0, _FIRST_LINE_BYTES))
    return None if link is None else link.seq


def read_lines(file: OpenFile, offset: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The lines from an offset on, with their line breaks; the last may lack one. Memory: one block and one line."""
    rest = b""
    while end is None or offset < end:
        block = file.read(offset, BLOCK if end is None else min(BLOCK, end - offset))
        if not block:
            break
        offset += len(block)
        lines = _split_lines(rest + block)
        rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
        yield from lines
        if len(rest) > MAX_LINE_BYTES:
            yield rest + b"\n"
            rest = b""
    if rest:
        yield rest


def _split_lines(data: bytes) -> list[bytes]:
    # `splitlines` is faster, but also splits at carriage returns.
    if b"\r" not in data:
        return data.splitlines(keepends=True)
    *lines, rest = data.split(b"\n")
    return [*(line + b"\n" for line in lines), *([rest] if rest else [])]


def read_records(disk: Disk, first: int, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """The lines from record `first` on, through all files, also while a writer appends and rotates.

    `advance` is called with the bytes read. A missing file is skipped: the numbers in the lines reveal it.
    """
    due = first
    seen: set[tuple[int, int]] = set()
    while (file := _open_holding(disk, due, seen)) is not None:
        with closing(file):
            start = _first_in(file)
            # Lines are counted, not searched by number: a verifier must not be misled by numbers that were tampered with.
            skip = max(0, due - start) if start is not None else 0
            due = max(due, start or 0)
            for line in read_lines(file):
                if advance is not None:
                    advance(len(line))
                if skip:
                    skip -= 1
                    continue
                due += 1
                yield line
            seen.add(file.ident)


def _open_holding(disk: Disk, due: int, seen: set[tuple[int, int]]) -> OpenFile | None:
    """Open the file that holds record `due`, else the next one not yet `seen`, else None."""
    for _ in range(_MAX_MOVES):
        for segment in _candidates(list_segments(disk), due):
            file = open_segment(disk, segment)
            if file is None:
                break
            if file.ident not in seen:
                return file
            file.close()
        else:
            return None
    raise FileNotFoundError("the files of the log are renamed faster than they can be read")


def _candidates(segments: list[Segment], due: int) -> list[Segment]:
    """Where record `due` would be, then where to continue if it is not there."""
    holding = [segment for segment in segments if segment.first is not None and segment.first <= due][-1:]
    later = [segment for segment in segments if segment.first is None or segment.first > due]
    return holding + later


def open_segment(disk: Disk, segment: Segment) -> OpenFile | None:
    """The file, or None if a rotation or a prune moved it since it was listed."""
    try:
        file = disk.open(segment.name)
    except FileNotFoundError:
        return None
    # An older file keeps its name for life; the active name passes on to the next file.
    if segment.name == ACTIVE and segment.first is not None and _first_in(file) != segment.first:
        file.close()
        return None
    return file


def read_notes(disk: Disk) -> Iterator[bytes]:
    """The signed notes in the order they were made, up to the present end of the file."""
    try:
        file = disk.open(CHECKPOINTS)
    except FileNotFoundError:
        return
    with closing(file):
        yield from split_notes(read_lines(file, 0, file.size()))


def read_last_note(disk: Disk) -> bytes | None:
    """The last complete note; None if there is none."""
    try:
        file = disk.open(CHECKPOINTS)
    except FileNotFoundError:
        return None
    with closing(file):
        return last_note(file)[0]


def last_note(file: OpenFile) -> tuple[bytes | None, int]:
    """The last complete note of the checkpoints and its end offset; (None, 0) if there is none."""
    base = max(0, file.size() - 2 * MAX_NOTE_BYTES)
    tail = file.read(base, 2 * MAX_NOTE_BYTES)
    place = find_last_note(tail)
    return (None, 0) if place is None else (tail[slice(*place)], base + place[1])


def write_note(file: OpenFile, note: bytes) -> None:
    """Append a note durably, replacing an incomplete one that a crash left."""
    _, end = last_note(file)
    if file.size() > end:
        file.truncate(end)
    file.write(end, note)
    file.sync()


def read_hash(file: OpenFile, level: int, index: int) -> bytes:
    """A stored hash; short or empty beyond the end of the file."""
    return file.read(stored_index(level, index) * HASH_BYTES, HASH_BYTES)


@contextmanager
def stored_hashes(disk: Disk) -> Iterator[ReadHash]:
    """Reads stored hashes. Missing ones are zeros: they match no signed root, so a verifier reports them."""
    try:
        file = disk.open(HASHES)
    except FileNotFoundError:
        yield lambda _level, _index: bytes(HASH_BYTES)
        return
    with closing(file):
        yield lambda level, index: read_hash(file, level, index).ljust(HASH_BYTES, b"\x00")
