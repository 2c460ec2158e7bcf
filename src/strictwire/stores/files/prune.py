"""Retention: removes old records so that the rest can still be proved.

The hashes of removed records stay, so the tree, its checkpoints and every proof about later records hold. A checkpoint that
is signed before the first file goes says which records may be missing from now on, and a prune record says why. Verification
reports any other missing record. Files are removed oldest first, so a crash in between leaves more records than asked for,
never fewer; the next start removes the rest.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from strictwire.audit.chain import parse_record
from strictwire.audit.event import Prune, render_body
from strictwire.stores.fault import mapped_errors
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import Disk, FolderDisk
from strictwire.stores.files.layout import first_record, read_records
from strictwire.stores.files.progress import Progress, ProgressMeter
from strictwire.stores.files.removal import remove_before
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
        # The checkpoint says what may be missing from now on, so it is signed before anything is removed.
        state.base = first
        writer.append_signed(state, [render_body(event)])
        remove_before(disk, first)
    return Pruned(first=first, removed=first - start)


def _find_first(disk: Disk, start: int, before: str, meter: ProgressMeter) -> int:
    """The first record that stays. Records are in the order they were written, so the first recent one ends the search."""
    first = start
    for line in read_records(disk, start, meter.advance):
        if str(parse_record(line).get("timestamp", "")) >= before:
            break
        first += 1
    meter.report()
    return first
