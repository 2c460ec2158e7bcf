"""Retention: removes old records so that the rest can still be proved.

The hashes of removed records stay, so the tree, its checkpoints and every proof about later records hold. A prune record,
signed before the first file goes, says what was removed; verification reports records that are missing without one. Files
are removed oldest first, so a crash in between leaves more records than asked for, never fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from strictwire.audit.event import Prune, render_body
from strictwire.canon.json import parse_object
from strictwire.stores.fault import mapped_errors
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import Disk, FolderDisk
from strictwire.stores.files.layout import BLOCK, first_record, list_segments, older_name, read_lines, read_records
from strictwire.stores.files.progress import Progress, ProgressMeter
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of a prune."""

    first: int
    """The first record that is left."""
    removed: int
    """How many were removed."""


def prune_trail(
    config: TrailConfig, before: str, *, clock: Clock = SYSTEM_CLOCK, progress: Progress | None = None
) -> Pruned:
    """Remove the records made before a time (in the format of the records: ISO 8601, UTC, `Z`). Raises LogFault.

    Safe while servers write: they wait for the lock.
    """
    disk = FolderDisk(config.folder)
    with closing(open_writer(config, clock)) as writer, mapped_errors():
        return _prune(writer, disk, Prune(timestamp=clock.stamp(), before=before, first=0), ProgressMeter(disk, progress))


def _prune(writer: TrailWriter, disk: Disk, wanted: Prune, meter: ProgressMeter) -> Pruned:
    with writer.exclusively() as state:
        start = first_record(disk)
        first = _find_first(disk, start, wanted.before, meter)
        if first == start:
            return Pruned(first=start, removed=0)
        if first > state.first:
            writer.rotate(state)
        event = Prune(timestamp=wanted.timestamp, before=wanted.before, first=first)
        writer.append_signed(state, [render_body(event)])
        _split(disk, first)
        for segment in list_segments(disk):
            if segment.first is not None and segment.first < first:
                disk.remove(segment.name)
        disk.sync()
    return Pruned(first=first, removed=first - start)


def _find_first(disk: Disk, start: int, before: str, meter: ProgressMeter) -> int:
    """The first record that stays. Records are in the order they were written, so the first recent one ends the search."""
    first = start
    for line in read_records(disk, start, meter.advance):
        if str(parse_object(line).get("timestamp", "")) >= before:
            break
        first += 1
    meter.report()
    return first


def _split(disk: Disk, first: int) -> None:
    """Make a file that starts with record `first`: the rest of the file that holds it, byte for byte."""
    older = [segment for segment in list_segments(disk) if segment.first is not None and segment.first <= first]
    if not older or older[-1].first == first:
        return
    draft = f"{older_name(first)}.new"
    with closing(disk.open(draft, create=True)) as target:
        target.truncate(0)
        offset = 0
        for block in _blocks(disk, older[-1].name, first - (older[-1].first or 0)):
            target.write(offset, block)
            offset += len(block)
        target.sync()
    disk.rename(draft, older_name(first))
    disk.sync()


def _blocks(disk: Disk, name: str, skip: int) -> Iterator[bytes]:
    """A file without its first `skip` lines."""
    with closing(disk.open(name)) as file:
        offset = sum(len(line) for line in islice(read_lines(file), skip))
        while block := file.read(offset, BLOCK):
            offset += len(block)
            yield block
