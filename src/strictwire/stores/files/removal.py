"""Removes the records before a number, which a signed checkpoint must allow already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import islice

from strictwire.stores.files.disk import Disk
from strictwire.stores.files.layout import BLOCK, list_segments, list_torn, older_name, read_lines


def remove_before(disk: Disk, first: int) -> None:
    """Remove the files of older records, splitting the one that holds record `first`. Goes on where a crash stopped it."""
    older = [segment for segment in list_segments(disk) if segment.first is not None and segment.first < first]
    torn = [name for seq, name in list_torn(disk) if seq < first]
    if not older and not torn:
        return
    _split(disk, first)
    for name in [*(segment.name for segment in older), *torn]:
        disk.remove(name)
    disk.sync()


def _split(disk: Disk, first: int) -> None:
    """Make a file that starts with record `first`: the rest of the file that holds it, byte for byte."""
    older = [segment for segment in list_segments(disk) if segment.first is not None and segment.first <= first]
    if not older or older[-1].first == first:
        return
    draft = f"{older_name(first)}.new"
    with closing(disk.open(draft, create=True)) as target:
        target.truncate(0)
        offset = 0
        for block in _blocks(disk, older[-1].name, first - (older[-1].first or 0)):
            target.write(offset, block)
            offset += len(block)
        target.sync()
    disk.rename(draft, older_name(first))
    disk.sync()


def _blocks(disk: Disk, name: str, skip: int) -> Iterator[bytes]:
    """A file without its first `skip` lines."""
    with closing(disk.open(name)) as file:
        offset = sum(len(line) for line in islice(read_lines(file), skip))
        while block := file.read(offset, BLOCK):
            offset += len(block)
            yield block
