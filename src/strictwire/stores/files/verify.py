"""Verifies a trail in its folder, and names the bad record where the lines alone only give a range.

A forger who replaces a record and chains all later ones anew leaves no broken link; only the signed root reveals it. The
stored hashes then name the record: if they lead to the signed root they are what was signed, and the first line that
differs from them is the first one that was replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from strictwire.audit.chain import GENESIS
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import ReadHash, leaf_hash, read_frontier
from strictwire.audit.verify import Finding, Reason, Verdict, Verifier, find_first_difference
from strictwire.stores.files.disk import Disk, ReadingDisk
from strictwire.stores.files.layout import first_record, read_notes, read_records, stored_hashes
from strictwire.stores.files.progress import Progress, ProgressMeter

_INEXACT: Final = frozenset({Reason.FORGED, Reason.EDITED})
"""Findings that the lines alone cannot pin to one record."""


def verify_trail(folder: Path, key: PublicKey, *, anchor: Path | None = None, progress: Progress | None = None) -> Verdict:
    """Verify the whole log. `anchor` is the file beside the signing key that holds the newest checkpoint, if available.

    Works on a log that is being written, and on a copy. Raises OSError, and NoteRefused if the anchor is not signed by
    the key.
    """
    note = anchor.read_bytes() if anchor is not None and anchor.exists() else None
    checkpoint = None if note is None else open_checkpoint(note, key)
    return verify_disk(ReadingDisk(folder), key, anchor=checkpoint, progress=progress)


def verify_disk(
    disk: Disk, key: PublicKey, *, anchor: Checkpoint | None = None, progress: Progress | None = None
) -> Verdict:
    """Verify a log on any disk."""
    meter = ProgressMeter(disk, progress)
    first = first_record(disk)
    with stored_hashes(disk) as read:
        start = read_frontier(first, read)
        head = read(0, first - 1) if first else GENESIS
        verifier = Verifier(key=key, notes=read_notes(disk), start=start, head=head, anchor=anchor)
        verifier.feed(read_records(disk, first, meter.advance))
        meter.report()
        verdict = verifier.finish()
        return replace(verdict, finding=_pin_down(disk, read, key, verdict))


def _pin_down(disk: Disk, read: ReadHash, key: PublicKey, verdict: Verdict) -> Finding | None:
    """Narrow a finding down to one record, if the stored hashes lead to the signed root."""
    finding = verdict.finding
    if finding is None or finding.reason not in _INEXACT:
        return finding
    below, above = _checkpoints_around(disk, key, finding.record)
    base = verdict.first if below is None else max(below.size, verdict.first)
    end = finding.last + 2 if above is None else above.size
    if above is not None and _root_of(read, base, end) != above.root:
        return finding
    ours = (leaf_hash(line.removesuffix(b"\n")) for line in read_records(disk, base))
    record = find_first_difference(islice(ours, end - base), _leaves(read, base, end), base)
    return finding if record is None else replace(finding, record=record, last=record)


def _checkpoints_around(disk: Disk, key: PublicKey, record: int) -> tuple[Checkpoint | None, Checkpoint | None]:
    """The last checkpoint that does not cover a record and the first that does."""
    below: Checkpoint | None = None
    for note in read_notes(disk):
        try:
            checkpoint = open_checkpoint(note, key)
        except NoteRefused:
            break
        if checkpoint.size > record:
            return below, checkpoint
        below = checkpoint
    return below, None


def _root_of(read: ReadHash, base: int, size: int) -> bytes:
    tree = read_frontier(base, read)
    tree.extend(_leaves(read, base, size))
    return tree.root()


def _leaves(read: ReadHash, start: int, end: int) -> Iterator[bytes]:
    return (read(0, index) for index in range(start, end))
