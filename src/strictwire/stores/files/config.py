"""Where a trail is, how it is kept, and its writer made from that."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from strictwire.audit.event import Values
from strictwire.stores.fault import LogFault, mapped_errors
from strictwire.stores.files.disk import FolderDisk, make_folder
from strictwire.stores.files.keys import KeyUnsafe, anchor_name, load_or_make_key
from strictwire.stores.files.lock import FolderLock
from strictwire.stores.files.writer import ROTATE_BYTES, TrailLocation, TrailWriter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock, Mode, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailConfig:
    """Where a trail is and how it is kept."""

    folder: Path
    key_path: Path
    """The signing key, outside the folder. Made on first use."""
    mode: Mode = Mode.SYNC
    values: Values = Values.DIGESTED
    schedule: Schedule = field(default_factory=Schedule)
    rotate_bytes: int = ROTATE_BYTES
    lock_seconds: float = 2.0
    """How long another process may keep the lock before a call is told so."""

    @property
    def anchor_path(self) -> Path:
        """The newest checkpoint, kept beside the key: what `verify_trail` takes as its anchor."""
        return self.key_path.parent / anchor_name(self.key_path, self.folder)


def open_writer(trail: TrailConfig, clock: Clock = SYSTEM_CLOCK) -> TrailWriter:
    """The blocking writer of a trail, its folder and key made if need be. Raises LogFault.

    The log itself is read by the first thing it is asked to do.
    """
    with mapped_errors():
        make_folder(trail.folder)
        try:
            key = load_or_make_key(trail.key_path, log_folder=trail.folder)
        except KeyUnsafe as unsafe:
            raise LogFault(f"key_{unsafe.reason}") from unsafe
    place = TrailLocation(
        disk=FolderDisk(trail.folder),
        lock=FolderLock(trail.folder, patience=trail.lock_seconds),
        anchors=FolderDisk(trail.key_path.parent),
        anchor_name=trail.anchor_path.name,
        stamp=clock.stamp,
        rotate_bytes=trail.rotate_bytes,
    )
    return TrailWriter(place, key)
