"""Making proofs from a trail: a few hashes are read, however long the log is."""

from __future__ import annotations

from pathlib import Path

from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import prove_consistency, prove_inclusion
from strictwire.audit.proof import (
    Extension,
    Inclusion,
    ProofRefused,
    check_consistency,
    check_inclusion,
    render_consistency,
    render_inclusion,
)
from strictwire.stores.files.disk import Disk, ReadingDisk
from strictwire.stores.files.layout import maybe_open_hashes, read_hash, read_last_note, read_notes, read_records

__all__ = ["Extension", "Inclusion", "NoProof", "check_consistency", "check_inclusion", "prove_growth", "prove_record"]


class NoProof(Exception):
    """There is nothing to prove it with. `reason`: not_signed_yet, no_such_record, no_such_checkpoint, damaged."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def prove_record(folder: Path, key: PublicKey, index: int) -> bytes:
    """The file that proves record `index` to anybody who has the public key.

    Raises NoProof: the record is not there (any more), no checkpoint covers it yet, or the trail does not hold.
    """
    disk = ReadingDisk(folder)
    note, _ = read_last_note(disk)
    checkpoint = None if note is None else _open(note, key)
    if checkpoint is None or index >= checkpoint.size:
        raise NoProof("not_signed_yet")
    line = next(read_records(disk, index), b"").removesuffix(b"\n")
    if not line.startswith(b'{"seq":%d,' % index):
        raise NoProof("no_such_record")
    with maybe_open_hashes(disk) as hashes:
        if hashes is None:
            raise NoProof("damaged")
        path = prove_inclusion(index, checkpoint.size, lambda level, place: read_hash(hashes, level, place))
    proof = render_inclusion(line, index=index, hashes=path, checkpoint=checkpoint)
    try:
        check_inclusion(proof, key)
    except ProofRefused:
        raise NoProof("damaged") from None
    return proof


def prove_growth(folder: Path, key: PublicKey, *, old: int, new: int | None = None) -> bytes:
    """The file that proves that the checkpoint of `new` records (by default the last) only added to that of `old`.

    Raises NoProof: there is no checkpoint of that size, or the trail does not hold.
    """
    disk = ReadingDisk(folder)
    earlier, later = _find_checkpoints(disk, key, old, new)
    with maybe_open_hashes(disk) as hashes:
        if hashes is None:
            raise NoProof("damaged")
        path = prove_consistency(earlier.size, later.size, lambda level, place: read_hash(hashes, level, place))
    proof = render_consistency(earlier, later, hashes=path)
    try:
        check_consistency(proof, key)
    except ProofRefused:
        raise NoProof("damaged") from None
    return proof


def list_checkpoints(folder: Path, key: PublicKey) -> list[int]:
    """The sizes that were signed for, in order. Raises NoProof for a note that is not signed by the key as it stands."""
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
