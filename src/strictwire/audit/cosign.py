"""Cosignatures: a witness states that it has seen a checkpoint, and that it extends every one it saw before.

The protocol is that of C2SP tlog-witness, the signature that of C2SP tlog-cosignature. A request is

    old <size of the checkpoint that the witness saw last>
    <base64 of a hash of the consistency proof>...

    <signed checkpoint>

The witness answers with its signature line. It keeps one checkpoint per log, and signs nothing that rewrites it: even the
owner of the log's key cannot replace a history that a witness has seen. Not here: files, processes, sockets
(`stores.files.witness`).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from strictwire.audit.checkpoint import (
    MAX_NOTE_BYTES,
    Checkpoint,
    NoteRefused,
    PublicKey,
    SigningKey,
    open_checkpoint,
    split_note,
)
from strictwire.audit.merkle import EMPTY_ROOT, HASH_BYTES, is_consistent

MAX_REQUEST_BYTES: Final = MAX_NOTE_BYTES + 64 * 64
"""A note and at most 63 hashes, which C2SP asks witnesses to accept."""

_MAX_DIGITS: Final = 18


class Status(IntEnum):
    """How a witness answers: the status codes of C2SP tlog-witness."""

    SIGNED = 200
    MALFORMED = 400
    REFUSED = 403
    """The checkpoint is not signed by the key of the log."""
    UNKNOWN_LOG = 404
    CONFLICT = 409
    """The witness saw another checkpoint last; the body is its size."""
    NOT_CONSISTENT = 422
    """The proof does not show that the checkpoint extends the one that the witness saw last."""


class RequestRefused(ValueError):
    """The bytes are not a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a log sends to a witness."""

    old: int
    proof: tuple[bytes, ...]
    note: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a witness answers."""

    status: Status
    body: bytes = b""
    seen: Checkpoint | None = None
    """The checkpoint to keep, before the reply is sent."""


def render_request(request: Request) -> bytes:
    """The bytes of a request."""
    hashes = [base64.b64encode(each).decode() for each in request.proof]
    return "\n".join([f"old {request.old}", *hashes, "", ""]).encode() + request.note


def parse_request(data: bytes) -> Request:
    """Parse a request. Raises RequestRefused."""
    head, blank, note = data.partition(b"\n\n")
    if not blank or len(data) > MAX_REQUEST_BYTES or not head.isascii():
        raise RequestRefused("malformed")
    first, *lines = head.decode("ascii").split("\n")
    size = first.removeprefix("old ")
    if not first.startswith("old ") or not size.isdigit() or len(size) > _MAX_DIGITS:
        raise RequestRefused("malformed")
    try:
        proof = tuple(base64.b64decode(line, validate=True) for line in lines)
    except binascii.Error:
        raise RequestRefused("malformed") from None
    if any(len(each) != HASH_BYTES for each in proof):
        raise RequestRefused("malformed")
    return Request(old=int(size), proof=proof, note=note)


def judge(data: bytes, *, log: PublicKey, last: Checkpoint | None) -> Reply:
    """How a witness answers a request, given the checkpoint that it saw last. The signature is still missing."""
    try:
        request = parse_request(data)
        checkpoint = open_checkpoint(request.note, log)
    except RequestRefused:
        return Reply(status=Status.MALFORMED)
    except NoteRefused:
        return Reply(status=Status.REFUSED)
    size, root = (0, EMPTY_ROOT) if last is None else (last.size, last.root)
    if request.old > checkpoint.size:
        return Reply(status=Status.MALFORMED)
    if request.old != size:
        return Reply(status=Status.CONFLICT, body=b"%d\n" % size)
    if not is_consistent(old=size, old_root=root, new=checkpoint.size, new_root=checkpoint.root, proof=request.proof):
        return Reply(status=Status.NOT_CONSISTENT)
    return Reply(status=Status.SIGNED, seen=checkpoint)


def cosign(note: bytes, key: SigningKey, *, seconds: int) -> bytes:
    """The signature line of a witness for a note, at a time in seconds since 1970."""
    text, _ = split_note(note)
    return key.signature_line(seconds.to_bytes(8, "big") + key.sign_text(_cosigned_text(text, seconds)))


def find_cosigned(note: bytes, witness: PublicKey) -> int | None:
    """When the witness signed a note, in seconds since 1970; None if it did not. Raises NoteRefused: not a note."""
    text, signatures = split_note(note)
    for name, blob in signatures:
        if name != witness.name or blob[:4] != witness.key_id or len(blob) != 4 + 8 + 64:
            continue
        seconds = int.from_bytes(blob[4:12], "big")
        if witness.accepts(_cosigned_text(text, seconds), blob[12:]):
            return seconds
    return None


def add_signatures(note: bytes, lines: bytes) -> bytes:
    """A note with more signature lines. Raises NoteRefused if they are none."""
    whole = note + lines
    split_note(whole)
    return whole


def _cosigned_text(text: bytes, seconds: int) -> bytes:
    return b"cosignature/v1\ntime %d\n" % seconds + text
