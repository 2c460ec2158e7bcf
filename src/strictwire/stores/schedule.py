"""When a trail is synced, signed and summarised, and the clock that decides it. The same for every kind of store."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final


class Mode(StrEnum):
    """What the record of an answered call survives."""

    SYNC = "sync"
    """A crash of the machine: the answer waits until the disk has the record."""
    BATCHED = "batched"
    """A crash of the process: the answer waits until the operating system has the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The source of time."""

    stamp: Callable[[], str]
    """The time of day for records: ISO 8601, UTC, milliseconds."""
    monotonic: Callable[[], float]


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


SYSTEM_CLOCK: Final = Clock(stamp=_stamp, monotonic=time.monotonic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When work is done that no call waits for."""

    checkpoint_records: int = 10_000
    """Sign a checkpoint when this many records have none."""
    checkpoint_seconds: float = 5.0
    """... or when the first of them has waited this long. Until then the end of the log is chained but not signed."""
    sync_seconds: float = 0.2
    """`batched`: how much a power cut may lose."""
    flood_seconds: float = 10.0
    """How often the counts of malformed input become one record."""
