"""Finds lines in the files of a log without reading them from the start.

A record is found by binary search in its file, since lines state their numbers. The numbers are not checked here: callers
verify what they get against a signed root.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from strictwire.audit.chain import maybe_link
from strictwire.audit.checkpoint import Checkpoint
from strictwire.audit.merkle import fold_inclusion, leaf_hash, prove_inclusion
from strictwire.audit.view import Proof
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.stores.files.disk import Disk, OpenFile
from strictwire.stores.files.layout import Segment, list_segments, older_name, open_segment, stored_hashes

_BLOCK: Final = 1 << 18
"""Bytes per read from the end: a few hundred records, about what one page of results needs."""

_PEEK: Final = 4096
"""Bytes read to find the next line start and the number of that line: most lines are shorter."""


def open_listed(disk: Disk, segment: Segment) -> OpenFile | None:
    """The file, under its listed name or the one that a rotation gave it since; None if it was pruned."""
    return open_segment(disk, segment) or open_segment(disk, Segment(older_name(segment.first or 0), segment.first))


def lines_back(file: OpenFile, end: int) -> Iterator[bytes]:
    """The complete lines before an offset, last first, without their line breaks."""
    rest: bytes | None = None
    while end > 0:
        start = max(0, end - _BLOCK)
        parts = (file.read(start, end - start) + (rest or b"")).split(b"\n")
        if rest is None:
            # After the last line break there is nothing, or a line that is still incomplete.
            parts.pop()
            if not parts:
                end = start
                continue
        rest, *lines = parts
        yield from reversed(lines)
        end = start
    if rest:
        yield rest


def find_line(file: OpenFile, seq: int) -> int:
    """The offset of the first line whose record is not before `seq`; the file's end if there is none."""
    size = file.size()
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        start = _line_start(file, middle, size)
        link = maybe_link(file.read(start, _PEEK)) if start < size else None
        if link is not None and link.seq < seq:
            low = start + 1
        else:
            high = middle
    return _line_start(file, low, size)


def prove_line(disk: Disk, index: int, checkpoint: Checkpoint) -> Proof:
    """A record with its path to a signed root. Raises LogFault: `no_such_record`, or `damaged` if they do not match."""
    line = read_line(disk, index)
    with stored_hashes(disk) as read:
        hashes = tuple(prove_inclusion(index, checkpoint.size, read))
    if fold_inclusion(leaf_hash(line), index=index, size=checkpoint.size, proof=hashes) != checkpoint.root:
        raise LogFault(DAMAGED, record=index)
    return Proof(index=index, line=line, hashes=hashes)


def read_line(disk: Disk, index: int) -> bytes:
    """A record, without its line break. Raises LogFault: `no_such_record`."""
    holding = [segment for segment in list_segments(disk) if segment.first is not None and segment.first <= index][-1:]
    for segment in holding:
        file = open_listed(disk, segment)
        if file is None:
            continue
        with closing(file):
            start = find_line(file, index)
            line = file.read(start, _line_start(file, start + 1, file.size()) - start).removesuffix(b"\n")
        if line.startswith(b'{"seq":%d,' % index):
            return line
    raise LogFault("no_such_record", record=index)


def _line_start(file: OpenFile, offset: int, size: int) -> int:
    """The start of the first line that starts at an offset or after it."""
    if offset == 0:
        return 0
    at = offset - 1
    while at < size:
        block = file.read(at, _PEEK)
        found = block.find(b"\n")
        if found >= 0:
            return at + found + 1
        if not block:
            break
        at += len(block)
    return size
