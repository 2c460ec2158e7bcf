"""Counting what is too cheap to send to deserve a record each.

Malformed input costs its sender nothing. Recorded one by one it would fill the disk, so it is counted by kind and one
Flood record is made when an interval has passed. Time comes in as arguments.
"""

from __future__ import annotations

from typing import Final

from strictwire.audit.event import Flood

MAX_KINDS: Final = 64
"""Kinds are our own words; should a caller ever pass input through, the rest is counted as `other`."""


class FloodGauge:
    """The counts since the last Flood record."""

    __slots__ = ("_counts", "_opened", "_since")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._since = ""
        self._opened = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the next is the first of an interval."""
        return not self._counts

    def open(self, *, timestamp: str, now: float) -> None:
        """An interval begins. `now` is on the clock that `due` is asked with."""
        self._since, self._opened = timestamp, now

    def count(self, kind: str) -> None:
        """Add one."""
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = "other"
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def due(self, interval: float) -> float | None:
        """When the counts have to be recorded, or None while there are none."""
        return self._opened + interval if self._counts else None

    def drain(self, timestamp: str) -> Flood | None:
        """The record of the counts, which start again from nothing; None when there are none."""
        if not self._counts:
            return None
        counts, self._counts = self._counts, {}
        return Flood(timestamp=timestamp, since=self._since, counts=counts)

    def put_back(self, flood: Flood, *, now: float) -> None:
        """The record could not be written: its counts go on."""
        if not self._counts:
            self._opened = now
        self._since = flood.since
        for kind, count in flood.counts.items():
            self._counts[kind] = self._counts.get(kind, 0) + count
