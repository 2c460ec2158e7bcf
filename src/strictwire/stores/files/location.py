"""Where a trail is kept, as the writer sees it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey
from strictwire.stores.fault import LogFault
from strictwire.stores.files.anchor import MAX_ANCHOR_BYTES, Anchor, parse_anchor
from strictwire.stores.files.disk import Disk, replace_file
from strictwire.stores.files.lock import Lock

ROTATE_BYTES: Final = 64 << 20
"""The size at which a new file is started. A start reads at most one file; ten gigabytes are 160 files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailLocation:
    """The folder of a trail, and the folder beside its key that holds the anchor and the mark."""

    disk: Disk
    lock: Lock
    anchors: Disk
    anchor_names: tuple[str, ...]
    """The anchor is written under each of these names; the newest is read."""
    mark_name: str
    stamp: Callable[[], str]
    """The time for records that the store makes itself: ISO 8601, UTC, milliseconds."""
    boot: str = ""
    """See anchor.Mark."""
    rotate_bytes: int = ROTATE_BYTES

    def read_anchor(self, key: PublicKey) -> tuple[Anchor, Checkpoint] | None:
        """The newest anchor; None before the first one. Raises LogFault if it is not signed by the key."""
        found = [pair for name in self.anchor_names if (pair := self._read_anchor(name, key)) is not None]
        return max(found, key=lambda pair: (pair[1].size, pair[1].number), default=None)

    def write_anchor(self, anchor: Anchor) -> None:
        """Replace the anchor durably. Raises OSError."""
        for name in self.anchor_names:
            replace_file(self.anchors, name, anchor.render())

    def _read_anchor(self, name: str, key: PublicKey) -> tuple[Anchor, Checkpoint] | None:
        try:
            file = self.anchors.open(name)
        except FileNotFoundError:
            return None
        with closing(file):
            data = file.read(0, MAX_ANCHOR_BYTES)
        try:
            anchor = parse_anchor(data)
            return anchor, anchor.checkpoint(key)
        except NoteRefused as refused:
            raise LogFault(f"checkpoint_{refused.fault}") from None
