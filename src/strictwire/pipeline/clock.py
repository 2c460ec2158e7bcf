"""The sources of time and ids, passed as a value so that a test can repeat a run byte for byte."""

from __future__ import annotations

import itertools
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

FIXED_TIME: Final = 1_767_225_600.0
"""2026-01-01T00:00:00.000Z: the current time of a deterministic run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The functions that give the time and new ids."""

    now: Callable[[], float] = time.time
    """Seconds since 1970."""
    elapsed: Callable[[], float] = time.perf_counter
    """Seconds on a clock that only goes forward."""
    next_id: Callable[[], str] = field(default_factory=lambda: _ids(os.urandom(8).hex()))
    """An id that is unique in this process, and among processes as far as chance allows."""

    def timestamp(self) -> str:
        """Now, ISO 8601 in UTC with milliseconds."""
        return iso_millis(int(self.now() * 1000))


@lru_cache(maxsize=8)
def iso_millis(millis: int) -> str:
    """Milliseconds since 1970 as ISO 8601. Cached: on a busy server many records have the same timestamp."""
    whole, rest = divmod(millis, 1000)
    return f"{_iso_second(whole)}.{rest:03d}Z"


@lru_cache(maxsize=8)
def _iso_second(whole: int) -> str:
    """Cached, because most other timestamps are in the same second."""
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}"


def deterministic_clock() -> Clock:
    """A clock that never advances, and ids that count up."""
    return Clock(now=lambda: FIXED_TIME, elapsed=lambda: 0.0, next_id=_ids("0" * 16))


def _ids(prefix: str) -> Callable[[], str]:
    counter = itertools.count(1)
    return lambda: str(uuid.UUID(f"{prefix}{next(counter):016x}"))
