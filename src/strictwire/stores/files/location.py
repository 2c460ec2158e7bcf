"""Where a trail is kept, as the writer sees it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from strictwire.audit.checkpoint import MAX_NOTE_BYTES
from strictwire.stores.files.disk import Disk
from strictwire.stores.files.lock import Lock

ROTATE_BYTES: Final = 64 << 20
"""The size at which a new file is started. A start reads at most one file; ten gigabytes are 160 files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailLocation:
    """The folder of a trail, and the folder beside its key that holds the newest checkpoint (the anchor)."""

    disk: Disk
    lock: Lock
    anchors: Disk
    anchor_name: str
    stamp: Callable[[], str]
    """The time for records that the store makes itself: ISO 8601, UTC, milliseconds."""
    rotate_bytes: int = ROTATE_BYTES

    def read_anchor(self) -> bytes | None:
        """The note of the newest checkpoint; None before the first one."""
        try:
            file = self.anchors.open(self.anchor_name)
        except FileNotFoundError:
            return None
        with closing(file):
            return file.read(0, MAX_NOTE_BYTES)
