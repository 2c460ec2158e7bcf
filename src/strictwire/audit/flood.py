"""Counts malformed input, which is too cheap to send to deserve a record each.

Recorded one by one it would fill the disk at no cost to its sender. So it is counted by kind, and one Flood record per
interval holds the counts. Timestamps come in as arguments.
"""

from __future__ import annotations

from typing import Final

from strictwire.audit.event import Flood

MAX_KINDS: Final = 64
"""Kinds are our own words; if a caller ever passes input through, the rest is counted as `other`."""


class FloodGauge:
    """The counts since the last Flood record."""

    __slots__ = ("_counts", "_since")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._since = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted since the last record."""
        return not self._counts

    def open(self, timestamp: str) -> None:
        """Start an interval."""
        self._since = timestamp

    def count(self, kind: str) -> None:
        """Count one input."""
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = "other"
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def drain(self, timestamp: str) -> Flood | None:
        """The record of the counts, which start again at zero; None if there are none."""
        if not self._counts:
            return None
        counts, self._counts = self._counts, {}
        return Flood(timestamp=timestamp, since=self._since, counts=counts)

    def put_back(self, flood: Flood) -> None:
        """Add the counts of a record that could not be written."""
        self._since = flood.since
        for kind, count in flood.counts.items():
            self._counts[kind] = self._counts.get(kind, 0) + count
