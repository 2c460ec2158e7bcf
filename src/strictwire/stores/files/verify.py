"""Verifying a trail in its folder, and naming the record where only a stretch is known.

Whoever replaces a record and chains all later ones anew leaves a log without a broken link; only the signed root tells.
The stored hashes then name the record: if they lead to the signed root they are what was signed for, and the first line
that differs from them is the first that was replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from strictwire.audit.chain import GENESIS
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import Frontier, ReadHash, leaf_hash, read_frontier
from strictwire.audit.verify import Finding, Reason, Verdict, Verifier, find_first_difference
from strictwire.stores.files.disk import Disk, ReadingDisk
from strictwire.stores.files.layout import (
    list_segments,
    maybe_open_hashes,
    read_notes,
    read_records,
    reading,
)
from strictwire.stores.files.progress import Meter, Progress

_INEXACT: Final = frozenset({Reason.FORGED, Reason.EDITED})
"""Findings that the lines alone cannot pin to one record."""


def verify_trail(folder: Path, key: PublicKey, *, anchor: Path | None = None, progress: Progress | None = None) -> Verdict:
    """Judge the whole log. `anchor` is the file beside the signing key that holds its newest checkpoint, where at hand.

    Works on a log that is being written, and on a copy. Raises OSError where the folder cannot be read, NoteRefused
    where the anchor is not a checkpoint of this key.
    """
    return verify_disk(ReadingDisk(folder), key, anchor=_read_anchor(anchor, key), progress=progress)


def verify_disk(
    disk: Disk, key: PublicKey, *, anchor: Checkpoint | None = None, progress: Progress | None = None
) -> Verdict:
    """The same for any disk."""
    meter = Meter(disk, progress)
    first = next((segment.first for segment in list_segments(disk) if segment.first is not None), 0)
    with maybe_open_hashes(disk) as hashes:
        read = reading(hashes)
        start = read_frontier(first, read)
        head = read(0, first - 1) if first else GENESIS
        verifier = Verifier(key=key, notes=read_notes(disk), start=start, head=head, anchor=anchor)
        verifier.feed(read_records(disk, first, meter.advance))
        meter.tell()
        verdict = verifier.finish()
        return replace(verdict, finding=_pin_down(disk, read, key, verdict))


def _pin_down(disk: Disk, read: ReadHash, key: PublicKey, verdict: Verdict) -> Finding | None:
    """Narrow the finding down to one record. The hashes have to be what was signed for, where anything was."""
    finding = verdict.finding
    if finding is None or finding.reason not in _INEXACT:
        return finding
    below, above = _signed_around(disk, key, finding.record)
    base = verdict.first if below is None else max(below.size, verdict.first)
    end = finding.last + 2 if above is None else above.size
    if above is not None and _root_of(read, base, end) != above.root:
        return finding
    ours = (leaf_hash(line.removesuffix(b"\n")) for line in read_records(disk, base))
    record = find_first_difference(islice(ours, end - base), _leaves(read, base, end), base)
    return finding if record is None else replace(finding, record=record, last=record)


def _signed_around(disk: Disk, key: PublicKey, record: int) -> tuple[Checkpoint | None, Checkpoint | None]:
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
    tree: Frontier = read_frontier(base, read)
    for leaf in _leaves(read, base, size):
        tree.push(leaf)
    return tree.root()


def _leaves(read: ReadHash, start: int, end: int) -> Iterator[bytes]:
    return (read(0, index) for index in range(start, end))


def _read_anchor(path: Path | None, key: PublicKey) -> Checkpoint | None:
    if path is None or not path.exists():
        return None
    return open_checkpoint(path.read_bytes(), key)
