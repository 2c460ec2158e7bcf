"""Reports how far a long read has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from strictwire.stores.files.disk import Disk
from strictwire.stores.files.layout import list_segments

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the bytes read so far and the total."""

_STEP: Final = 8 << 20
"""Bytes between two calls: about a hundred calls per gigabyte."""


class ProgressMeter:
    """Adds up bytes and calls `progress` every few megabytes."""

    __slots__ = ("_done", "_progress", "_reported", "_total")

    def __init__(self, disk: Disk, progress: Progress | None) -> None:
        found = [disk.stat(segment.name) for segment in list_segments(disk)]
        self._total = sum(info.size for info in found if info is not None)
        self._progress = progress
        self._done = self._reported = 0

    def advance(self, count: int) -> None:
        """Add bytes."""
        self._done += count
        if self._done - self._reported >= _STEP:
            self.report()

    def report(self) -> None:
        """Call `progress` now. A log that is being written may have grown beyond the total."""
        self._reported = self._done
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done))
