"""Putting back the files of a trail that were deleted while its writer has them open."""

from __future__ import annotations

from strictwire.audit.merkle import HASH_BYTES, stored_count
from strictwire.canon.digest import digest_bytes
from strictwire.stores.files.disk import Disk, OpenFile
from strictwire.stores.files.layout import ACTIVE, BLOCK, HASHES, read_lines, sealed_name
from strictwire.stores.files.state import Tail


def was_rotated(disk: Disk, tail: Tail) -> bool:
    """Whether the newest file that we know is an older one by now, and so not gone."""
    older = disk.look(sealed_name(tail.first))
    return older is not None and older.ident == tail.file.ident


def restore(disk: Disk, tail: Tail) -> str:
    """Put the log back, in a folder that is there again: the digest of what the newest file holds."""
    tail.store_hashes()
    keep_hashes(disk, tail)
    tail.file = _copy(disk, tail.file, ACTIVE, tail.size)
    tail.signed = 0
    return digest_bytes(b"".join(read_lines(tail.file, 0, tail.size)))


def keep_hashes(disk: Disk, tail: Tail) -> None:
    """Put the file of hashes back, if it is not there any more."""
    found = disk.look(HASHES)
    if found is None or found.ident != tail.hashes.ident:
        tail.hashes = _copy(disk, tail.hashes, HASHES, stored_count(tail.tree.size) * HASH_BYTES)


def _copy(disk: Disk, source: OpenFile, name: str, size: int) -> OpenFile:
    """A new file with the first `size` bytes of another, durable; the other is given back."""
    target = disk.open(name, create=True)
    for offset in range(0, size, BLOCK):
        target.write(offset, source.read(offset, min(BLOCK, size - offset)))
    target.sync()
    disk.sync()
    source.close()
    return target
