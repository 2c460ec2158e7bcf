"""Counts malformed input instead of recording each one.

Malformed input costs its sender nothing; one record each would let an attacker fill the disk. It is counted by kind, and
one Flood record per interval contains the counts. Times are arguments, so that this room stays pure.
"""

from __future__ import annotations

from typing import Final

from strictwire.audit.event import Flood

MAX_KINDS: Final = 64
"""Maximum number of different kinds; more are counted as `other`. Callers pass fixed words, so this is a safety net."""


class FloodGauge:
    """The counts since the last Flood record."""

    __slots__ = ("_counts", "_opened", "_since")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._since = ""
        self._opened = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been counted in this interval."""
        return not self._counts

    def open(self, *, timestamp: str, now: float) -> None:
        """Start an interval. `now` is the time on the clock that the result of `due` refers to."""
        self._since, self._opened = timestamp, now

    def count(self, kind: str) -> None:
        """Count one input."""
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = "other"
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def due(self, interval: float) -> float | None:
        """The time at which the counts must be recorded, or None if there are none."""
        return self._opened + interval if self._counts else None

    def drain(self, timestamp: str) -> Flood | None:
        """Return the Flood record and reset the counts; None if there are none."""
        if not self._counts:
            return None
        counts, self._counts = self._counts, {}
        return Flood(timestamp=timestamp, since=self._since, counts=counts)

    def put_back(self, flood: Flood, *, now: float) -> None:
        """Restore the counts of a record that could not be written."""
        if not self._counts:
            self._opened = now
        self._since = flood.since
        for kind, count in flood.counts.items():
            self._counts[kind] = self._counts.get(kind, 0) + count
