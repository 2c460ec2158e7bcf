"""Has checkpoints of a trail cosigned by a witness, and is one.

A witness is reached in one of three ways: a file elsewhere that keeps the checkpoints, a command that reads a request from
standard input, or an HTTP endpoint of C2SP tlog-witness. What it has seen is kept beside the key as `<anchor>.witnessed`.
"""

from __future__ import annotations

import http.client
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from strictwire.audit.checkpoint import Checkpoint, PublicKey, SigningKey, open_checkpoint
from strictwire.audit.cosign import (
    MAX_REQUEST_BYTES,
    Reply,
    Request,
    Status,
    add_signatures,
    cosign,
    find_cosigned,
    judge,
    render_request,
)
from strictwire.audit.merkle import prove_consistency
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.disk import FolderDisk, ReadingDisk, make_folder
from strictwire.stores.files.evidence import read_witnessed
from strictwire.stores.files.layout import read_last_note, stored_hashes, write_note

SECONDS: Final = 30
"""How long a witness may take. It writes one small file."""

Ask: TypeAlias = Callable[[bytes], tuple[int, bytes]]
"""Sends a request to a witness; gives the status and the body of its reply. Raises OSError."""


class WitnessRefused(Exception):
    """The witness did not sign. `reason` says why, for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A checkpoint that a witness has seen."""

    checkpoint: Checkpoint
    is_new: bool


def witness_trail(config: TrailConfig, key: PublicKey, ask: Ask, *, witness: PublicKey | None = None) -> Witnessed:
    """Have the newest checkpoint seen by a witness. With its key, the signature is checked.

    Raises WitnessRefused, NoteRefused, OSError.
    """
    disk = ReadingDisk(config.folder)
    note = read_last_note(disk)
    if note is None:
        raise WitnessRefused("the trail has no checkpoint yet")
    checkpoint = open_checkpoint(note, key)
    kept = witnessed_path(config)
    last = _last_seen(kept, key)
    if last is not None and (last.size, last.root) == (checkpoint.size, checkpoint.root):
        return Witnessed(checkpoint=checkpoint, is_new=False)
    status, body = _ask_twice(ask, disk, checkpoint, 0 if last is None else last.size)
    if status != Status.SIGNED:
        raise WitnessRefused(_REFUSALS.get(status, f"it answered with status {status}"))
    cosigned = add_signatures(note, body)
    if witness is not None and find_cosigned(cosigned, witness) is None:
        raise WitnessRefused("its signature is not valid")
    append_note(kept, cosigned)
    return Witnessed(checkpoint=checkpoint, is_new=True)


_REFUSALS: Final[Mapping[int, str]] = {
    Status.MALFORMED: "it does not understand the request",
    Status.REFUSED: "the checkpoint is not signed by the key that it knows for this log",
    Status.UNKNOWN_LOG: "it does not know this log",
    Status.CONFLICT: "it has seen a larger log: this one was put back to an earlier state",
    Status.NOT_CONSISTENT: "this log is not a continuation of the one that it has seen: history was rewritten",
}


def witnessed_path(config: TrailConfig) -> Path:
    """The file beside the key with the checkpoints that witnesses have seen."""
    return config.anchor_path.with_suffix(".witnessed")


def _ask_twice(ask: Ask, disk: ReadingDisk, checkpoint: Checkpoint, old: int) -> tuple[int, bytes]:
    """Ask again if the witness saw another checkpoint last than we remember."""
    status, body = ask(_request(disk, checkpoint, old))
    if status == Status.CONFLICT and body.strip().isdigit() and int(body) <= checkpoint.size and int(body) != old:
        status, body = ask(_request(disk, checkpoint, int(body)))
    return status, body


def _request(disk: ReadingDisk, checkpoint: Checkpoint, old: int) -> bytes:
    old = min(old, checkpoint.size)
    with stored_hashes(disk) as read:
        proof = tuple(prove_consistency(old, checkpoint.size, read))
    return render_request(Request(old=old, proof=proof, note=checkpoint.note))


def ask_command(command: Sequence[str]) -> Ask:
    """A witness that is a command: it reads a request, and writes the status on the first line, then the body."""

    def ask(request: bytes) -> tuple[int, bytes]:
        try:
            done = subprocess.run(command, input=request, stdout=subprocess.PIPE, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise WitnessRefused(f"the command did not end within {SECONDS} s") from None
        status, _, body = done.stdout[:MAX_REQUEST_BYTES].partition(b"\n")
        if not status.isdigit():
            raise WitnessRefused(f"the command ended with {done.returncode} and without an answer")
        return int(status), body

    return ask


def ask_url(url: str) -> Ask:
    """A witness at an HTTP endpoint. `url` is its submission prefix. Redirects are not followed."""
    parts = urlsplit(url)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if parts.scheme not in kinds or not parts.hostname:
        raise WitnessRefused(f"{url}: expected http://... or https://...")
    host = parts.hostname

    def ask(request: bytes) -> tuple[int, bytes]:
        connection = kinds[parts.scheme](host, parts.port, timeout=SECONDS)
        try:
            connection.request("POST", f"{parts.path.rstrip('/')}/add-checkpoint", request)
            response = connection.getresponse()
            return response.status, response.read(MAX_REQUEST_BYTES)
        except http.client.HTTPException as exc:
            raise WitnessRefused("its answer is not HTTP") from exc
        finally:
            connection.close()

    return ask


def ask_file(path: Path, key: PublicKey) -> Ask:
    """A file elsewhere as the witness: it keeps the checkpoints and signs nothing."""

    def ask(request: bytes) -> tuple[int, bytes]:
        reply = judge(request, log=key, last=_last_seen(path, key))
        if reply.seen is not None:
            append_note(path, reply.seen.note)
        return reply.status, reply.body

    return ask


def serve_request(request: bytes, *, logs: Sequence[PublicKey], kept: Path, key: SigningKey, seconds: int) -> Reply:
    """Answer a request as a witness of several logs that keeps what it has seen in a file. Raises OSError, NoteRefused."""
    origin = request.partition(b"\n\n")[2].partition(b"\n")[0].decode("utf-8", "replace")
    log = next((found for each in logs if (found := _maybe_log(each, origin)) is not None), None)
    if log is None:
        return Reply(status=Status.UNKNOWN_LOG)
    reply = judge(request, log=log, last=_last_seen(kept, log))
    if reply.seen is None:
        return reply
    line = cosign(reply.seen.note, key, seconds=seconds)
    append_note(kept, add_signatures(reply.seen.note, line))
    return replace(reply, body=line)


def _last_seen(path: Path, key: PublicKey) -> Checkpoint | None:
    seen = read_witnessed(path, key, None) if path.is_file() else []
    return max(seen, key=lambda each: each.size, default=None)


def _maybe_log(key: PublicKey, origin: str) -> PublicKey | None:
    """The key for an origin, which may be that of one of several workers; None if it is not of this key."""
    if origin == key.name:
        return key
    prefix = f"{key.name}/"
    return key.for_log(origin.removeprefix(prefix)) if origin.startswith(prefix) else None


def append_note(path: Path, note: bytes) -> None:
    """Append a note to a file, durably."""
    make_folder(path.parent)
    disk = FolderDisk(path.parent)
    file = disk.open(path.name, create=True)
    try:
        write_note(file, note)
    finally:
        file.close()
    disk.sync()
