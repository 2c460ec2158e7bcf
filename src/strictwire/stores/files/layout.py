"""The files of a trail and how to find records in them.

audit-log.jsonl                 the records, one line each: the newest file
audit-log-<first>.jsonl         older files, by the number of their first record
audit-log.hashes                every hash of the tree, in stored order (`audit.merkle`)
audit-log.mirror                the last bytes of the newest file once more (`mirror`)
audit-log.checkpoints           signed notes, one after another
audit-log.torn-<seq>            an unfinished line that a crash left, where record <seq> would have been
audit-log.lock                  see `lock`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
"""Bytes read at once: large enough that calls do not count, small enough that memory does not."""

_SEALED: Final = re.compile(r"audit-log-([0-9]{12})\.jsonl")
MAX_LINE_BYTES: Final = 32 << 20
"""Far above a record with its largest arguments and result: what is longer is handed over in pieces, none a record."""

_MOVES: Final = 100
"""How often in a row a file may move away between listing and opening; a rotation takes place once in minutes."""

_FIRST_LINE_BYTES: Final = 256
"""A line shows its number in its first hundred bytes."""


def sealed_name(first: int) -> str:
    """The name of an older file whose first record is `first`."""
    return f"audit-log-{first:012d}.jsonl"


def torn_name(seq: int) -> str:
    """Where the unfinished line that stood in place of record `seq` is kept."""
    return f"audit-log.torn-{seq:012d}"


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of records."""

    name: str
    first: int | None
    """Its first record; None where it has none, or does not begin with one."""


def list_segments(disk: Disk) -> list[Segment]:
    """The older files by their first record, then the newest if there is one."""
    names = disk.names()
    sealed = sorted((int(match[1]), name) for name in names if (match := _SEALED.fullmatch(name)))
    segments = [Segment(name, first) for first, name in sealed]
    return [*segments, Segment(ACTIVE, read_first(disk, ACTIVE))] if ACTIVE in names else segments


def read_first(disk: Disk, name: str) -> int | None:
    """The number of the first record of a file, or None where it is absent or does not begin with a record."""
    try:
        file = disk.open(name)
    except FileNotFoundError:
        return None
    try:
        return _first_in(file)
    finally:
        file.close()


def _first_in(file: OpenFile) -> int | None:
    link = maybe_link(file.read(0, _FIRST_LINE_BYTES))
    return None if link is None else link.seq


def read_lines(file: OpenFile, offset: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The lines from a place on, with their line breaks; the last may have none. Memory: one block and one line."""
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
    """Cut after each line feed. `splitlines` is faster, but a carriage return is a line break to it too."""
    if b"\r" not in data:
        return data.splitlines(keepends=True)
    *lines, rest = data.split(b"\n")
    return [*(line + b"\n" for line in lines), *([rest] if rest else [])]


def read_records(disk: Disk, first: int, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """The lines from record `first` on, through every file, also while a writer goes on and moves to a new file.

    `advance` is told the bytes read. A file that is missing is passed over: the numbers in the lines tell.
    """
    due = first
    seen: set[tuple[int, int]] = set()
    while (file := _open_holding(disk, due, seen)) is not None:
        try:
            start = _first_in(file)
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
        finally:
            file.close()


def _open_holding(disk: Disk, due: int, seen: set[tuple[int, int]]) -> OpenFile | None:
    """Open the file that holds record `due`, else the next one that was not `seen` yet, else None."""
    for _ in range(_MOVES):
        for segment in _candidates(list_segments(disk), due):
            file = _maybe_open(disk, segment)
            if file is None:
                break
            if file.ident not in seen:
                return file
            file.close()
        else:
            return None
    raise FileNotFoundError("the files of the log do not stay in place long enough to be read")


def _candidates(segments: list[Segment], due: int) -> list[Segment]:
    """Where record `due` would be, then where to go on if it is not there."""
    holding = [segment for segment in segments if segment.first is not None and segment.first <= due][-1:]
    later = [segment for segment in segments if segment.first is None or segment.first > due]
    return holding + later


def _maybe_open(disk: Disk, segment: Segment) -> OpenFile | None:
    """The file, unless a writer or a prune moved it since it was listed."""
    try:
        file = disk.open(segment.name)
    except FileNotFoundError:
        return None
    # The name of an older file never comes to stand for other records; the newest one's does.
    if segment.name == ACTIVE and segment.first is not None and _first_in(file) != segment.first:
        file.close()
        return None
    return file


def read_notes(disk: Disk) -> Iterator[bytes]:
    """The signed notes in the order they were made, as far as the file goes now."""
    found = disk.look(CHECKPOINTS)
    if found is None:
        return
    file = disk.open(CHECKPOINTS)
    try:
        yield from split_notes(read_lines(file, 0, found.size))
    finally:
        file.close()


def read_last_note(disk: Disk) -> tuple[bytes | None, int]:
    """The last whole note and where it ends; (None, 0) where there is none."""
    found = disk.look(CHECKPOINTS)
    if found is None:
        return None, 0
    file = disk.open(CHECKPOINTS)
    try:
        base = max(0, found.size - 2 * MAX_NOTE_BYTES)
        tail = file.read(base, found.size - base)
    finally:
        file.close()
    place = find_last_note(tail)
    return (None, 0) if place is None else (tail[slice(*place)], base + place[1])


def write_note(disk: Disk, note: bytes) -> None:
    """Put a note behind the last whole one, durable."""
    _, end = read_last_note(disk)
    found = disk.look(CHECKPOINTS)
    file = disk.open(CHECKPOINTS, create=True)
    try:
        if found is not None and found.size > end:
            file.truncate(end)
        file.write(end, note)
        file.sync()
    finally:
        file.close()
    if found is None:
        disk.sync()


def read_hash(file: OpenFile, level: int, index: int) -> bytes:
    """A stored hash; short or empty where the file does not reach."""
    return file.read(stored_index(level, index) * HASH_BYTES, HASH_BYTES)


@contextmanager
def maybe_open_hashes(disk: Disk) -> Iterator[OpenFile | None]:
    """The file of hashes, or None where there is none."""
    try:
        file = disk.open(HASHES)
    except FileNotFoundError:
        yield None
        return
    try:
        yield file
    finally:
        file.close()


def reading(hashes: OpenFile | None) -> ReadHash:
    """Stored hashes, or zeros where there are none: they lead to no signed root, and whoever judges says so."""

    def read(level: int, index: int) -> bytes:
        found = b"" if hashes is None else read_hash(hashes, level, index)
        return found.ljust(HASH_BYTES, b"\x00")

    return read
