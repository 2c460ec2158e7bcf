"""Reads what is known about a log from other places than its folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from strictwire.audit.checkpoint import Checkpoint, KeyRefused, PublicKey, open_checkpoint, parse_signing_key, split_notes
from strictwire.audit.cosign import find_cosigned
from strictwire.stores.files.anchor import Evidence, maybe_mark, parse_anchor
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.keys import MAX_KEY_BYTES


def read_evidence(config: TrailConfig, key: PublicKey, witnessed: Sequence[Checkpoint] = ()) -> Evidence:
    """Everything that this machine has. Raises OSError, and NoteRefused if an anchor is not signed by the key."""
    anchors = [parse_anchor(path.read_bytes()).checkpoint(key) for path in config.anchor_paths if path.is_file()]
    anchor = max(anchors, key=lambda each: (each.size, each.number), default=None)
    mark = maybe_mark(config.mark_path.read_bytes()) if config.mark_path.is_file() else None
    return Evidence(anchor=anchor, mark=mark, tag_key=_read_tag_key(config.key_path), witnessed=witnessed)


def _read_tag_key(path: Path) -> bytes:
    """From the signing key; empty where that cannot be read, as for an auditor with the public key alone."""
    with suppress(OSError, KeyRefused, UnicodeDecodeError), path.open("rb") as file:
        return parse_signing_key(file.read(MAX_KEY_BYTES).decode()).tag_key
    return b""


def read_witnessed(path: Path, key: PublicKey, witness: PublicKey | None) -> list[Checkpoint]:
    """The checkpoints of a log in a file that a witness keeps. With the key of the witness, only those it has cosigned.

    Raises OSError, and NoteRefused if the file has anything but checkpoints.
    """
    notes = list(split_notes(path.read_bytes().splitlines(keepends=True)))
    ours = [note for note in notes if note.partition(b"\n")[0] == key.name.encode()]
    return [open_checkpoint(note, key) for note in ours if witness is None or find_cosigned(note, witness) is not None]
