"""Makes proofs from a trail. Only a few hashes are read, however long the log is."""

from __future__ import annotations

from pathlib import Path

from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import prove_consistency
from strictwire.audit.proof import ProofRefused, check_consistency, render_consistency, render_inclusion
from strictwire.stores.fault import LogFault
from strictwire.stores.files.disk import Disk, ReadingDisk
from strictwire.stores.files.layout import read_last_note, read_notes, stored_hashes
from strictwire.stores.files.search import prove_line


class NoProof(Exception):
    """There is nothing to prove it with. `reason`: not_signed_yet, no_such_record, no_such_checkpoint, damaged."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def prove_record(folder: Path, key: PublicKey, index: int) -> bytes:
    """A proof file that shows record `index` to anyone with the public key.

    Raises NoProof: the record is absent or pruned, no checkpoint covers it yet, or the trail is damaged.
    """
    disk = ReadingDisk(folder)
    note = read_last_note(disk)
    checkpoint = None if note is None else _open(note, key)
    if checkpoint is None or index >= checkpoint.size:
        raise NoProof("not_signed_yet")
    try:
        proof = prove_line(disk, index, checkpoint)
    except LogFault as fault:
        raise NoProof(fault.reason) from None
    return render_inclusion(proof.line, index=index, hashes=proof.hashes, checkpoint=checkpoint)


def prove_growth(folder: Path, key: PublicKey, *, old: int, new: int | None = None) -> bytes:
    """A proof file that shows that the checkpoint of `new` records (default: the last) only added to that of `old`.

    Raises NoProof: there is no checkpoint of that size, or the trail is damaged.
    """
    disk = ReadingDisk(folder)
    earlier, later = _find_checkpoints(disk, key, old, new)
    with stored_hashes(disk) as read:
        path = prove_consistency(earlier.size, later.size, read)
    proof = render_consistency(earlier, later, hashes=path)
    try:
        check_consistency(proof, key)
    except ProofRefused:
        raise NoProof("damaged") from None
    return proof


def list_checkpoints(folder: Path, key: PublicKey) -> list[int]:
    """The signed sizes, in order. Raises NoProof for a note that is not signed by the key."""
    return [_open(note, key).size for note in read_notes(ReadingDisk(folder))]


def _find_checkpoints(disk: Disk, key: PublicKey, old: int, new: int | None) -> tuple[Checkpoint, Checkpoint]:
    earlier: Checkpoint | None = None
    later: Checkpoint | None = None
    for note in read_notes(disk):
        checkpoint = _open(note, key)
        if checkpoint.size == old:
            earlier = checkpoint
        if new is None or checkpoint.size == new:
            later = checkpoint
    if earlier is None or later is None or later.size < earlier.size:
        raise NoProof("no_such_checkpoint")
    return earlier, later


def _open(note: bytes, key: PublicKey) -> Checkpoint:
    try:
        return open_checkpoint(note, key)
    except NoteRefused:
        raise NoProof("damaged") from None
