"""Reads the records of a trail, also while it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from strictwire.stores.files.disk import Disk, OpenFile, ReadingDisk
from strictwire.stores.files.layout import ACTIVE, list_segments, read_lines, read_records
from strictwire.stores.files.progress import Progress, ProgressMeter
from strictwire.stores.records import EVERYTHING, Filters, StoredRecord, filter_lines


def read_trail(folder: Path, filters: Filters = EVERYTHING, *, progress: Progress | None = None) -> Iterator[StoredRecord]:
    """The records that match, oldest first. Raises OSError."""
    disk = ReadingDisk(folder)
    meter = ProgressMeter(disk, progress)
    yield from filter_lines(read_records(disk, 0, meter.advance), filters)
    meter.report()


def follow_trail(folder: Path, filters: Filters = EVERYTHING, *, wait: Callable[[], bool]) -> Iterator[StoredRecord]:
    """The records written from now on. Raises OSError.

    `wait` is called when there are no more: it pauses, and returns False to stop.
    """
    with closing(_Follower(ReadingDisk(folder))) as follower:
        while True:
            yield from filter_lines(follower.read_more(), filters)
            if not wait():
                return


class _Follower:
    """Keeps its place in the active file, and moves on when that is rotated."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._file: OpenFile | None = None
        self._offset = 0
        if disk.stat(ACTIVE) is not None:
            self._file = disk.open(ACTIVE)
            self._offset = self._file.size()

    def read_more(self) -> Iterator[bytes]:
        # Asked before the old file is read to its end: what was appended before a rotation is not missed.
        found = self._disk.stat(ACTIVE)
        yield from self._rest()
        if found is not None and (self._file is None or found.ident != self._file.ident):
            yield from self._move_on()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _rest(self) -> Iterator[bytes]:
        if self._file is None:
            return
        for line in read_lines(self._file, self._offset):
            if not line.endswith(b"\n"):
                break
            self._offset += len(line)
            yield line

    def _move_on(self) -> Iterator[bytes]:
        """Read every file after the present one, up to the active one."""
        known = None if self._file is None else self._file.ident
        names = [segment.name for segment in list_segments(self._disk)]
        idents = [None if found is None else found.ident for found in map(self._disk.stat, names)]
        for name in names[idents.index(known) + 1 :] if known in idents else names[-1:]:
            self.close()
            self._file, self._offset = self._disk.open(name), 0
            yield from self._rest()
