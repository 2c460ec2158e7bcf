"""Proof files that anyone can check with the public key alone.

An inclusion proof is a C2SP tlog-proof: the index of a record, the hashes from the record to the root, and the checkpoint
that signs the root. The `extra` line contains the record itself, so that the proof needs no other file:

    c2sp.org/tlog-proof@v1
    extra <base64 of the exact line>
    index <number of the record>
    <base64 of a hash>...

    <signed checkpoint>

A consistency proof shows that a later checkpoint only appends to an earlier one. It contains both:

    strictwire/tlog-consistency@v1
    <base64 of a hash>...

    <earlier signed checkpoint><later signed checkpoint>

Not here: reading hashes and records (`stores.files.proofs`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint, split_notes
from strictwire.audit.merkle import HASH_BYTES, fold_inclusion, is_consistent, leaf_hash

INCLUSION: Final = "c2sp.org/tlog-proof@v1"
CONSISTENCY: Final = "strictwire/tlog-consistency@v1"

MAX_PROOF_BYTES: Final = 64 << 20
"""Maximum size of a proof: enough for a record with the largest arguments and result, in base64."""


class ProofRefused(ValueError):
    """The proof is invalid. `reason`: malformed, unknown_key, bad_signature, not_included, not_consistent."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """A record that is proven to be in the log."""

    index: int
    line: bytes
    """The exact bytes of the record."""
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """Two checkpoints of which the newer is proven to extend the older."""

    old: Checkpoint
    new: Checkpoint


def render_inclusion(line: bytes, *, index: int, hashes: Sequence[bytes], checkpoint: Checkpoint) -> bytes:
    """The content of an inclusion proof file."""
    head = [INCLUSION, f"extra {_encode(line)}", f"index {index}", *map(_encode, hashes), "", ""]
    return "\n".join(head).encode() + checkpoint.note


def check_inclusion(proof: bytes, key: PublicKey) -> Inclusion:
    """Check an inclusion proof and return what it proves. Raises ProofRefused."""
    title, lines, notes = _split(proof)
    if title != INCLUSION or len(lines) < 2 or not lines[0].startswith("extra ") or not lines[1].startswith("index "):
        raise ProofRefused("malformed")
    line, number = _decode(lines[0].removeprefix("extra ")), lines[1].removeprefix("index ")
    hashes = [_decode_hash(text) for text in lines[2:]]
    if not (number.isascii() and number.isdigit() and str(int(number)) == number):
        raise ProofRefused("malformed")
    checkpoint = _open(notes, key)
    root = fold_inclusion(leaf_hash(line), index=int(number), size=checkpoint.size, proof=hashes)
    if root != checkpoint.root:
        raise ProofRefused("not_included")
    return Inclusion(index=int(number), line=line, checkpoint=checkpoint)


def render_consistency(old: Checkpoint, new: Checkpoint, *, hashes: Sequence[bytes]) -> bytes:
    """The content of a consistency proof file."""
    return "\n".join([CONSISTENCY, *map(_encode, hashes), "", ""]).encode() + old.note + new.note


def check_consistency(proof: bytes, key: PublicKey) -> Extension:
    """Check a consistency proof and return what it proves. Raises ProofRefused."""
    title, lines, notes = _split(proof)
    parts = list(split_notes(notes.splitlines(keepends=True)))
    if title != CONSISTENCY or len(parts) != 2:
        raise ProofRefused("malformed")
    old, new = _open(parts[0], key), _open(parts[1], key)
    hashes = [_decode_hash(text) for text in lines]
    if not is_consistent(old=old.size, old_root=old.root, new=new.size, new_root=new.root, proof=hashes):
        raise ProofRefused("not_consistent")
    return Extension(old=old, new=new)


def _split(proof: bytes) -> tuple[str, list[str], bytes]:
    """The title, the other header lines, and the notes after the first empty line."""
    head, blank, notes = proof.partition(b"\n\n")
    if not blank or len(proof) > MAX_PROOF_BYTES or not head.isascii():
        raise ProofRefused("malformed")
    title, *lines = head.decode("ascii").split("\n")
    return title, lines, notes


def _open(note: bytes, key: PublicKey) -> Checkpoint:
    try:
        return open_checkpoint(note, key)
    except NoteRefused as refused:
        raise ProofRefused(refused.fault.value) from None


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ProofRefused("malformed") from None


def _decode_hash(text: str) -> bytes:
    raw = _decode(text)
    if len(raw) != HASH_BYTES:
        raise ProofRefused("malformed")
    return raw
