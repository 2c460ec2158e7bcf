"""Reads `audit-log.mirror`, which earlier versions used in mode `sync`.

They synced each commit to a preallocated copy and the log itself later. After a power cut the mirror may hold records
that the log lacks. `recovery` puts them back and deletes the file. The mirror is a ring of frames, each padded to whole
sectors:

    mirror <bytes of lines> <hash of the last line>      and a line break
    the lines, as they stand in the log

A torn frame does not match the hash in its header. An outdated frame does not continue the log, because its first line names
the hash of the line before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from strictwire.audit.chain import maybe_link
from strictwire.audit.merkle import leaf_hash
from strictwire.stores.files.disk import Disk

MIRROR: Final = "audit-log.mirror"

_SECTOR: Final = 512
_HEADER: Final = re.compile(rb"mirror (\d{1,9}) ([0-9a-f]{64})\n")


def read_mirrored(disk: Disk, head: bytes) -> Iterator[bytes]:
    """The mirrored lines, with their line breaks, that continue a log whose last leaf hash is `head`."""
    followers = {prev: line for frame in _read_frames(disk) for prev, line in frame}
    while head in followers:
        line = followers[head]
        yield line
        head = leaf_hash(line.removesuffix(b"\n"))


def remove_mirror(disk: Disk) -> None:
    """Delete the mirror, unless a process of an earlier version is using it. The log must be synced before."""
    with closing(disk.open(MIRROR)) as file:
        if file.try_lock():
            disk.remove(MIRROR)
            disk.sync()


def _read_frames(disk: Disk) -> Iterator[list[tuple[bytes, bytes]]]:
    """For each complete frame, its lines, each with the hash of the line before it."""
    with closing(disk.open(MIRROR)) as file:
        whole = file.read(0, file.size())
    for offset in range(0, len(whole), _SECTOR):
        header = _HEADER.match(whole, offset)
        if header is not None:
            lines = whole[header.end() : header.end() + int(header[1])].splitlines(keepends=True)
            yield _chained(lines, bytes.fromhex(header[2].decode()))


def _chained(lines: list[bytes], head: bytes) -> list[tuple[bytes, bytes]]:
    """The lines with the hash before each; empty if they are not one chain that ends in `head`."""
    prevs = [link.prev for line in lines if (link := maybe_link(line)) is not None]
    hashes = [leaf_hash(line.removesuffix(b"\n")) for line in lines]
    if [*prevs[1:], head] != hashes or not all(line.endswith(b"\n") for line in lines):
        return []
    return list(zip(prevs, lines, strict=True))
