"""What was written last once more, in a file that never grows.

To sync a file that grows, the disk has to find blocks for it and to write down its new size; where the blocks are there
already, that takes half the time. So what a caller waits for is synced here, and the log itself later, for many calls at a
time. Each commit is a frame, and frames follow each other around the file:

    mirror <bytes of lines> <hash of the last line>      and a line break
    the lines, as they stand in the log                   and zeros up to a whole sector

A sector is on disk or is not. A frame that is not whole does not lead to the hash that it names, and one that is old does
not begin where a log ends, for its first line names the hash before it. So nothing has to tell where the newest is.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from strictwire.audit.chain import maybe_link
from strictwire.audit.merkle import leaf_hash
from strictwire.stores.files.disk import Disk, OpenFile

MIRROR: Final = "audit-log.mirror"

MIRROR_BYTES: Final = 4 << 20
"""Some five thousand records: what is written to the log and not synced there is never more."""

_SECTOR: Final = 512
_HEAD: Final = re.compile(rb"mirror (\d{1,9}) ([0-9a-f]{64})\n")


class Mirror:
    """The mirror of one log, for its only writer."""

    def __init__(self, file: OpenFile, size: int) -> None:
        self._file = file
        self._size = size
        self._synced = 0
        self._staged: deque[tuple[int, bytes]] = deque()
        """Frames with their places that wait for a sync. One thread may add to them while another takes them."""
        self.written = 0
        """Bytes, with those that are staged, all the way around as often as that was."""
        self.needed = 0
        """Those before are in the log itself, for certain."""

    def prepare(self, disk: Disk) -> None:
        """See that all of its blocks are on disk."""
        found = disk.look(MIRROR)
        if found is not None and found.size == self._size:
            return
        try:
            self._file.truncate(0)
            self._file.write(0, bytes(self._size))
            self._file.sync()
            disk.sync()
        except OSError:
            with suppress(OSError):  # a disk that is full needs the room for records
                self._file.truncate(0)
            raise

    @property
    def is_filling(self) -> bool:
        """Whether the log should be synced before there is no more room."""
        return self.written - self.needed > self._size // 4

    def stage(self, lines: bytes, head: bytes) -> bool:
        """Take the lines of a commit, the last of which has this hash; False if they find no place here."""
        if not self._file.is_named():
            return False
        frame = b"mirror %d %b\n%b" % (len(lines), head.hex().encode(), lines)
        frame += bytes(-len(frame) % _SECTOR)
        start = self.written
        if start % self._size + len(frame) > self._size:
            start += -start % self._size
        if start + len(frame) - self.needed > self._size:
            return False
        self._staged.append((start % self._size, frame))
        self.written = start + len(frame)
        return True

    def sync(self) -> None:
        """Return when what was written survives a power cut."""
        written = self.written
        frames = self._take_staged()
        for place, data in frames if len(frames) == 1 else _join(frames):
            self._file.write_through(place, data)
        self._synced = max(self._synced, written)

    def take_back(self) -> None:
        """Nothing that was not synced comes back from here."""
        self._take_staged()
        place, count = self._synced % self._size, self.written - self._synced
        room = self._size - place
        if count:
            self._file.write_through(place, bytes(min(count, room)))
        if count > room:
            self._file.write_through(0, bytes(count - room))
        self.written = self._synced

    def _take_staged(self) -> list[tuple[int, bytes]]:
        staged = self._staged
        return [staged.popleft() for _ in range(len(staged))]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _join(frames: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The same with those in one piece that follow each other: each piece is a sync."""
    pieces: list[tuple[int, list[bytes]]] = []
    end = -1
    for place, frame in frames:
        if place != end:
            pieces.append((place, []))
        pieces[-1][1].append(frame)
        end = place + len(frame)
    return [(place, b"".join(parts)) for place, parts in pieces]


def maybe_open_mirror(disk: Disk, size: int) -> Mirror | None:
    """The mirror, which is ours until it is closed; None where another process has it. The size is a multiple of a sector.

    Nothing is changed yet: it may hold what a process that died has synced nowhere else.
    """
    file = disk.open(MIRROR, create=True)
    if file.hold():
        return Mirror(file, size)
    file.close()
    return None


def read_mirrored(disk: Disk, head: bytes) -> Iterator[bytes]:
    """The lines, each with its line break, that follow the one with this hash."""
    known = {before: line for lines in _read_frames(disk) for before, line in lines}
    while head in known:
        line = known[head]
        yield line
        head = leaf_hash(line.removesuffix(b"\n"))


def _read_frames(disk: Disk) -> Iterator[list[tuple[bytes, bytes]]]:
    """The lines of each whole frame, with the hash that each of them follows."""
    found = disk.look(MIRROR)
    if found is None:
        return
    file = disk.open(MIRROR)
    try:
        whole = file.read(0, found.size)
    finally:
        file.close()
    for place in range(0, len(whole), _SECTOR):
        head = _HEAD.match(whole, place)
        if head is not None:
            lines = whole[head.end() : head.end() + int(head[1])].splitlines(keepends=True)
            yield _chained(lines, bytes.fromhex(head[2].decode()))


def _chained(lines: list[bytes], head: bytes) -> list[tuple[bytes, bytes]]:
    """The lines with the hash that each follows; none of them, unless they follow each other up to this hash."""
    links = [maybe_link(line) for line in lines]
    hashes = [leaf_hash(line.removesuffix(b"\n")) for line in lines]
    before = [link.prev for link in links if link is not None]
    if [*before[1:], head] != hashes or not all(line.endswith(b"\n") for line in lines):
        return []
    return list(zip(before, lines, strict=True))
