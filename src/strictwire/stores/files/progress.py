"""How far a long reading has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from strictwire.stores.files.disk import Disk
from strictwire.stores.files.layout import list_segments

Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then how many bytes of how many are done."""

_STEP: Final = 8 << 20
"""Bytes between two calls: some hundred for the largest logs."""


class Meter:
    """Adds up the bytes of lines and tells the progress now and then."""

    __slots__ = ("_done", "_progress", "_told", "_total")

    def __init__(self, disk: Disk, progress: Progress | None) -> None:
        looks = [disk.look(segment.name) for segment in list_segments(disk)]
        self._total = sum(look.size for look in looks if look is not None)
        self._progress = progress
        self._done = self._told = 0

    def advance(self, count: int) -> None:
        """More was read."""
        self._done += count
        if self._done - self._told >= _STEP:
            self.tell()

    def tell(self) -> None:
        """Tell it now. A log that is being written may have grown beyond its total."""
        self._told = self._done
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done))
