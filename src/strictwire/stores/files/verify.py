"""Verifies a trail in its folder, and names the bad record where the lines alone only give a range.

A forger who replaces a record and chains all later ones anew leaves no broken link; only the signed root reveals it. The
stored hashes then name the record: if they lead to the signed root they are what was signed, and the first line that
differs from them is the first one that was replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from strictwire.audit.chain import GENESIS
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import EMPTY_ROOT, ReadHash, leaf_hash, read_frontier
from strictwire.audit.verify import Finding, Reason, Verdict, Verifier, find_first_difference
from strictwire.stores.files.anchor import Evidence, boot_id, parse_anchor
from strictwire.stores.files.disk import Disk, ReadingDisk
from strictwire.stores.files.inventory import find_changed_aside, find_gap, find_stray
from strictwire.stores.files.layout import first_record, read_notes, read_records, stored_hashes
from strictwire.stores.files.progress import Progress, ProgressMeter

_INEXACT: Final = frozenset({Reason.FORGED, Reason.EDITED})
"""Findings that the lines alone cannot pin to one record."""


def verify_trail(
    folder: Path,
    key: PublicKey,
    *,
    anchor: Path | None = None,
    evidence: Evidence | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Verify the whole log. `anchor` is the file beside the signing key that holds the newest checkpoint, if available.

    Works on a log that is being written, and on a copy. Raises OSError, and NoteRefused if the anchor is not signed by
    the key.
    """
    evidence = evidence or Evidence()
    if anchor is not None and anchor.exists():
        evidence = replace(evidence, anchor=parse_anchor(anchor.read_bytes()).checkpoint(key))
    return verify_disk(ReadingDisk(folder), key, evidence, progress=progress)


def verify_disk(
    disk: Disk, key: PublicKey, evidence: Evidence | None = None, *, progress: Progress | None = None
) -> Verdict:
    """Verify a log on any disk."""
    evidence = evidence or Evidence()
    stray = find_stray(disk)
    if stray is not None:
        return Verdict(finding=stray, first=0, size=0, signed=0, checkpoints=0, root=EMPTY_ROOT, torn=0)
    meter = ProgressMeter(disk, progress)
    first = first_record(disk)
    with stored_hashes(disk) as read:
        verifier = Verifier(
            key=key,
            notes=read_notes(disk),
            start=read_frontier(first, read),
            head=read(0, first - 1) if first else GENESIS,
            anchor=evidence.anchor,
            tag_key=evidence.tag_key,
        )
        verifier.feed(read_records(disk, first, meter.advance))
        meter.report()
        verdict = verifier.finish()
        if verdict.finding is None:
            return replace(verdict, finding=_find_beside(disk, evidence, verdict))
        return replace(verdict, finding=_pin_down(disk, read, key, verdict))


def _find_beside(disk: Disk, evidence: Evidence, verdict: Verdict) -> Finding | None:
    """What the lines and the checkpoints alone do not show."""
    allowed = 0 if evidence.anchor is None else evidence.anchor.first
    found = find_gap(disk, allowed) or find_changed_aside(disk, verdict.set_aside, verdict.size)
    if found is not None:
        return found
    least = 0 if evidence.mark is None else evidence.mark.least(boot_id())
    if verdict.size < least:
        return Finding(reason=Reason.TRUNCATED, record=verdict.size, last=least - 1)
    return _find_disagreement(disk, evidence.witnessed, verdict)


def _find_disagreement(disk: Disk, witnessed: Sequence[Checkpoint], verdict: Verdict) -> Finding | None:
    """Whether the log still has the roots that a witness has seen. Roots of pruned records cannot be computed any more."""
    roots = {checkpoint.size: checkpoint.root for checkpoint in witnessed if checkpoint.size >= verdict.first}
    if not roots:
        return None
    with stored_hashes(disk) as read:
        tree = read_frontier(verdict.first, read)
    lines = read_records(disk, verdict.first)
    for size in sorted(roots):
        tree.extend(leaf_hash(line.removesuffix(b"\n")) for line in islice(lines, size - tree.size))
        if tree.size != size or tree.root() != roots[size]:
            return Finding(reason=Reason.WITNESS_DISAGREES, record=0, last=size - 1)
    return None


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
