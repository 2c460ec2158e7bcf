"""What a writer may trust before it signs: the anchor beside the key, its mark, and what the key has signed since.

Each function refuses with LogFault `damaged` what only someone without the key can have done to the folder.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from strictwire.audit.chain import GENESIS
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, SigningKey, open_checkpoint
from strictwire.audit.merkle import EMPTY_ROOT, Frontier, read_frontier
from strictwire.audit.verify import Finding
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.stores.files.anchor import MARK_BYTES, Anchor, anchor_of, maybe_mark
from strictwire.stores.files.disk import Disk, OpenFile
from strictwire.stores.files.layout import Segment, last_note, read_hash, read_notes
from strictwire.stores.files.location import TrailLocation
from strictwire.stores.files.state import TrailState

UNSIGNED: Final = Checkpoint(origin="", size=0, root=EMPTY_ROOT, note=b"")
"""Stands for the checkpoint of a log that has none yet."""


def follow_notes(state: TrailState, key: PublicKey) -> None:
    """Take in checkpoints that another process has signed. Raises LogFault if some were removed."""
    note, _ = last_note(state.notes)
    if note is None:
        if state.number:
            raise LogFault(DAMAGED, record=state.signed, detail="the checkpoints were removed")
        return
    last = _read_checkpoint(note, key)
    if last.size < state.signed or 0 < last.number < state.number:
        raise LogFault(DAMAGED, record=last.size, detail="the newest checkpoints were removed")
    if last.number > state.number and last.size <= state.records:
        state.signed, state.number, state.base = last.size, last.number, last.first


def newest_checkpoint(notes: OpenFile, trusted: tuple[Anchor, Checkpoint] | None, key: PublicKey) -> Checkpoint:
    """The last checkpoint of the log. Raises LogFault if it is not signed by the key, or the anchor tells of others."""
    note, _ = last_note(notes)
    last = UNSIGNED if note is None else _read_checkpoint(note, key)
    if trusted is None:
        return last
    anchor, checkpoint = trusted
    if (last.size, last.number) < (checkpoint.size, checkpoint.number):
        # The checkpoint is written before the anchor, so no crash leaves them like this.
        raise LogFault(DAMAGED, record=last.size, detail="it is older than the newest checkpoint beside the key")
    start = anchor.note_end - len(checkpoint.note)
    if anchor.note_end and (start < 0 or notes.read(start, len(checkpoint.note)) != checkpoint.note):
        raise LogFault(DAMAGED, record=0, detail="older checkpoints were removed or changed")
    return last


def _read_checkpoint(note: bytes, key: PublicKey) -> Checkpoint:
    try:
        return open_checkpoint(note, key)
    except NoteRefused as refused:
        raise LogFault(DAMAGED, detail=f"its last checkpoint is refused: {refused.fault}") from None


def count_checkpoints(disk: Disk, key: PublicKey) -> int:
    """How many checkpoints a log has. Those of earlier versions have no numbers; a crash may have cut the last one short."""
    count = 0
    for note in read_notes(disk):
        with suppress(NoteRefused):
            open_checkpoint(note, key)
            count += 1
    return count


def make_anchor(location: TrailLocation, state: TrailState, key: SigningKey, checkpoint: Checkpoint) -> None:
    """Write the first anchor of a log, so that from now on nothing can be removed unnoticed."""
    if checkpoint.note:
        tree = read_frontier(checkpoint.size, lambda level, index: read_hash(state.hashes, level, index))
        head = read_hash(state.hashes, 0, checkpoint.size - 1) if checkpoint.size else GENESIS
    else:
        tree, head = Frontier(), GENESIS
        checkpoint = key.sign(size=0, root=tree.root())
    location.write_anchor(anchor_of(checkpoint, tree=tree, head=head, note_end=last_note(state.notes)[1]))


def refuse_finding(finding: Finding | None) -> None:
    """Refuse a log with a finding."""
    if finding is not None:
        raise LogFault(DAMAGED, record=finding.record, detail=str(finding))


def refuse_pruned(segments: list[Segment], checkpoint: Checkpoint) -> None:
    """Refuse a log whose oldest records are missing, unless a signed prune removed them."""
    first = next((segment.first for segment in segments if segment.first is not None), 0)
    if first > checkpoint.first:
        detail = f"records {checkpoint.first} to {first - 1} are missing, and no signed checkpoint allows that"
        raise LogFault(DAMAGED, record=checkpoint.first, detail=detail)


def refuse_cut(file: OpenFile, boot: str, records: int) -> None:
    """Refuse a log that has fewer records than it once had."""
    mark = maybe_mark(file.read(0, MARK_BYTES))
    if mark is not None and records < mark.least(boot):
        detail = f"records {records} to {mark.least(boot) - 1} were removed"
        raise LogFault(DAMAGED, record=records, detail=detail)
