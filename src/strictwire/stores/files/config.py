"""Where a trail is and how it is kept, and the writer made from that."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from strictwire.stores.fault import LogFault, mapped_errors
from strictwire.stores.files.disk import FolderDisk, make_folder
from strictwire.stores.files.keys import KeyUnsafe, anchor_name, load_or_make_key
from strictwire.stores.files.location import ROTATE_BYTES, TrailLocation
from strictwire.stores.files.lock import FolderLock
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock, Mode, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailConfig:
    """Where a trail is and how it is kept."""

    folder: Path
    key_path: Path
    """The signing key, outside the folder. Created on first use."""
    mode: Mode = Mode.SYNC
    keeps_values: bool = False
    """Whether records hold arguments and results beside their digests."""
    schedule: Schedule = field(default_factory=Schedule)
    rotate_bytes: int = ROTATE_BYTES
    lock_seconds: float = 2.0
    """How long a commit waits for another process before the call fails."""

    @property
    def anchor_path(self) -> Path:
        """The newest checkpoint, kept beside the key: the anchor for `verify_trail`."""
        return self.key_path.parent / anchor_name(self.key_path, self.folder)


def open_writer(config: TrailConfig, clock: Clock = SYSTEM_CLOCK) -> TrailWriter:
    """The blocking writer of a trail; folder and key are created if needed. Raises LogFault.

    The log itself is read by the first operation.
    """
    with mapped_errors():
        make_folder(config.folder)
        try:
            key = load_or_make_key(config.key_path, log_folder=config.folder)
        except KeyUnsafe as unsafe:
            raise LogFault(f"key_{unsafe.reason}") from unsafe
    location = TrailLocation(
        disk=FolderDisk(config.folder),
        lock=FolderLock(config.folder, patience=config.lock_seconds),
        anchors=FolderDisk(config.key_path.parent),
        anchor_name=config.anchor_path.name,
        stamp=clock.stamp,
        rotate_bytes=config.rotate_bytes,
    )
    return TrailWriter(location, key)
