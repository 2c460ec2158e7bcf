"""Where a trail is, how it is kept, and its writer made from that."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from strictwire.audit.event import Values
from strictwire.stores.trail.disk import FolderDisk, make_folder
from strictwire.stores.trail.fault import LogFault, mapped_errors
from strictwire.stores.trail.keys import KeyUnsafe, anchor_name, load_or_make_key
from strictwire.stores.trail.lock import FolderLock
from strictwire.stores.trail.log import ROTATE_BYTES, Place, TrailLog


class Mode(StrEnum):
    """What an answered call's record survives."""

    SYNC = "sync"
    BATCHED = "batched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Where time comes from."""

    stamp: Callable[[], str]
    """ISO 8601 in UTC with milliseconds."""
    monotonic: Callable[[], float]


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


SYSTEM_CLOCK: Final = Clock(stamp=_stamp, monotonic=time.monotonic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When things are done that no single call waits for."""

    checkpoint_records: int = 10_000
    """A checkpoint is signed when this many records have none."""
    checkpoint_seconds: float = 5.0
    """... or when the first of them has waited this long. Until then the end of the log is chained but not signed."""
    sync_seconds: float = 0.2
    """`batched`: what a power cut may lose."""
    flood_seconds: float = 10.0
    """Counts of malformed input become one record."""
    quick_seconds: float = 0.002
    """`sync`: a disk that syncs within this is waited for by the event loop itself, which takes less than waking a thread
    and being woken by it. A slower one never holds the loop up twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
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


def open_log(trail: Trail, clock: Clock = SYSTEM_CLOCK) -> TrailLog:
    """The blocking writer of a trail, its folder and key made if need be. Raises LogFault.

    The log itself is read by the first thing it is asked to do.
    """
    with mapped_errors():
        make_folder(trail.folder)
        try:
            key = load_or_make_key(trail.key_path, log_folder=trail.folder)
        except KeyUnsafe as unsafe:
            raise LogFault(f"key_{unsafe.reason}") from unsafe
    place = Place(
        disk=FolderDisk(trail.folder),
        lock=FolderLock(trail.folder, patience=trail.lock_seconds),
        anchors=FolderDisk(trail.key_path.parent),
        anchor_name=trail.anchor_path.name,
        stamp=clock.stamp,
        rotate_bytes=trail.rotate_bytes,
    )
    return TrailLog(place, key)
