"""What is known about a log outside its folder: the anchor and the mark, two files beside the signing key.

Whoever can write to the folder can put it back to an earlier state. These files cannot be changed from there:

    anchor    the newest checkpoint, and the right edge of the tree under it, from which a repair continues
    mark      how many records there are, also those that no checkpoint covers yet: written with every commit, never synced

A power cut can lose records of mode `batched` and keep the mark, so the mark counts the durable ones apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from strictwire.audit.checkpoint import MAX_NOTE_BYTES, Checkpoint, NoteFault, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import Frontier

MAX_ANCHOR_BYTES: Final = 2 * MAX_NOTE_BYTES
"""A note and at most 64 peaks."""

MARK_BYTES: Final = 96

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Anchor(Struct, frozen=True, kw_only=True):
    """The newest checkpoint with the tree under it."""

    note: str
    head: str = ""
    """The leaf hash of the last record, in hexadecimal; empty in the anchor of an earlier version."""
    peaks: tuple[str, ...] = ()
    note_end: int = 0
    """Where the note ends in the file of checkpoints; 0 if it is not in it. Reveals that older ones were removed."""

    def render(self) -> bytes:
        """The content of the file."""
        return msgspec.json.encode(self) + b"\n"

    def checkpoint(self, key: PublicKey) -> Checkpoint:
        """The checkpoint. Raises NoteRefused if it is not signed by the key."""
        return open_checkpoint(self.note.encode(), key)

    def frontier(self, size: int) -> Frontier | None:
        """The tree; None if the anchor was written by an earlier version."""
        return Frontier(size, [bytes.fromhex(peak) for peak in self.peaks]) if self.head else None


def anchor_of(checkpoint: Checkpoint, *, tree: Frontier, head: bytes, note_end: int) -> Anchor:
    """The anchor for a checkpoint of this tree."""
    peaks = tuple(peak.hex() for peak in tree.peaks)
    return Anchor(note=checkpoint.note.decode(), head=head.hex(), peaks=peaks, note_end=note_end)


def parse_anchor(data: bytes) -> Anchor:
    """Parse the content of an anchor. Earlier versions wrote the note alone. Raises NoteRefused if it is neither."""
    try:
        return msgspec.json.decode(data, type=Anchor) if data.startswith(b"{") else Anchor(note=data.decode())
    except ValueError as exc:
        raise NoteRefused(NoteFault.MALFORMED) from exc


class Mark(Struct, frozen=True):
    """How many records a log has."""

    boot: str
    """Identifies the run of the kernel; empty where that is unknown."""
    records: int
    durable: int
    """How many of them survive a power cut."""

    def least(self, boot: str) -> int:
        """How many records the log must have now. Only a power cut, which starts the kernel anew, may lose some."""
        return self.records if boot and boot == self.boot else self.durable


def render_mark(boot: bytes, records: int, durable: int) -> bytes:
    """The content of a mark, of fixed length. Takes no Mark, because every commit needs it."""
    return b"%-40b %26d %27d\n" % (boot or b"-", records, durable)


def maybe_mark(data: bytes) -> Mark | None:
    """Parse the content of a mark; None if there is none yet."""
    parts = data.decode("ascii", "replace").split()
    if len(parts) != 3 or not parts[1].isdecimal() or not parts[2].isdecimal():
        return None
    return Mark(parts[0], int(parts[1]), int(parts[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known about a log from other places than its folder. The more there is, the more a verification finds."""

    anchor: Checkpoint | None = None
    """The newest checkpoint, from beside the signing key."""
    mark: Mark | None = None
    """How many records there are, from beside the signing key."""
    tag_key: bytes = b""
    """From the signing key."""
    witnessed: Sequence[Checkpoint] = ()
    """Checkpoints that a witness has seen."""


def boot_id() -> str:
    """Identifies this run of the kernel; empty where the system does not tell."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""
