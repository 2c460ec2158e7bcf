"""Retention: removing old records so that what is left can still be proved.

The hashes of removed records stay, so the tree, its checkpoints and every proof about later records hold. A prune record,
signed for before the first file goes, says what was removed; verification takes records that are missing without one for
what they are. Files are removed from the oldest on; a crash in between leaves more than was asked for, never less.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from strictwire.audit.event import Prune, render_body
from strictwire.canon.json import parse_object
from strictwire.stores.fault import mapped_errors
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import Disk, FolderDisk
from strictwire.stores.files.layout import BLOCK, list_segments, read_records, sealed_name
from strictwire.stores.files.progress import Meter, Progress
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock


@dataclass(frozen=True, slots=True)
class Pruned:
    """What is left."""

    first: int
    """The first record that is still there."""
    removed: int
    """How many went."""


def prune_trail(trail: TrailConfig, before: str, *, clock: Clock = SYSTEM_CLOCK, progress: Progress | None = None) -> Pruned:
    """Remove the records made before a time (as records write it: ISO 8601, UTC, `Z`). Raises LogFault.

    Safe while servers write: they wait for the lock.
    """
    disk = FolderDisk(trail.folder)
    with closing(open_writer(trail, clock)) as log, mapped_errors():
        return _prune(log, disk, Prune(timestamp=clock.stamp(), before=before, first=0), Meter(disk, progress))


def _prune(log: TrailWriter, disk: Disk, wanted: Prune, meter: Meter) -> Pruned:
    with log.exclusively() as tail:
        start = next((segment.first for segment in list_segments(disk) if segment.first is not None), 0)
        first = _find_first(disk, start, wanted.before, meter)
        if first == start:
            return Pruned(first=start, removed=0)
        if first > tail.first:
            log.rotate(tail)
        event = Prune(timestamp=wanted.timestamp, before=wanted.before, first=first)
        log.keep(tail, [render_body(event)])
        _split(disk, first)
        for segment in list_segments(disk):
            if segment.first is not None and segment.first < first:
                disk.remove(segment.name)
        disk.sync()
    return Pruned(first=first, removed=first - start)


def _find_first(disk: Disk, start: int, before: str, meter: Meter) -> int:
    """The first record that stays. Records are in the order they were written; the first young one ends the search."""
    first = start
    for line in read_records(disk, start, meter.advance):
        if str(parse_object(line).get("timestamp", "")) >= before:
            break
        first += 1
    meter.tell()
    return first


def _split(disk: Disk, first: int) -> None:
    """Let a file begin with record `first`: the rest of the file that holds it, byte for byte."""
    sealed = [segment for segment in list_segments(disk) if segment.first is not None and segment.first <= first]
    if not sealed or sealed[-1].first == first:
        return
    draft = f"{sealed_name(first)}.new"
    target = disk.open(draft, create=True)
    with closing(target):
        target.truncate(0)
        offset = 0
        for block in _blocks(disk, sealed[-1].name, first - (sealed[-1].first or 0)):
            target.write(offset, block)
            offset += len(block)
        target.sync()
    disk.rename(draft, sealed_name(first))
    disk.sync()


def _blocks(disk: Disk, name: str, skip: int) -> Iterator[bytes]:
    """A file without its first `skip` lines."""
    with closing(disk.open(name)) as file:
        offset = 0
        while block := file.read(offset, BLOCK):
            offset += len(block)
            while skip and (cut := block.find(b"\n")) >= 0:
                block = block[cut + 1 :]
                skip -= 1
            if not skip and block:
                yield block
