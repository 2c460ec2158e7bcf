"""Puts back files of a trail that were deleted while the writer has them open."""

from __future__ import annotations

from contextlib import ExitStack, closing
from hashlib import sha256

from strictwire.audit.checkpoint import PublicKey
from strictwire.audit.event import Recovery
from strictwire.audit.merkle import HASH_BYTES, stored_count
from strictwire.canon.digest import PREFIX
from strictwire.stores.files.disk import Disk, OpenFile
from strictwire.stores.files.layout import ACTIVE, BLOCK, CHECKPOINTS, HASHES, older_name
from strictwire.stores.files.location import TrailLocation
from strictwire.stores.files.state import TrailState


def was_deleted(location: TrailLocation, key: PublicKey, state: TrailState) -> bool:
    """Whether the active file, which has no name now, was deleted: not rotated, and not continued by another process."""
    older = location.disk.stat(older_name(state.first))
    if older is not None and older.ident == state.file.ident:
        return False
    anchor = location.read_anchor(key)
    return anchor is None or anchor[1].size <= state.records


def restore_files(location: TrailLocation, state: TrailState) -> None:
    """Put the active file and the hashes back into a folder that exists again."""
    state.store_hashes()
    restore_hashes(location.disk, state)
    restore_notes(location, state)
    state.file, digest = _copy(location.disk, state.file, ACTIVE, state.end.size)
    recovery = Recovery(timestamp=location.stamp(), reason="restored", size=state.end.size, digest=digest, kept_as=ACTIVE)
    state.recoveries.append(recovery)


def restore_hashes(disk: Disk, state: TrailState) -> None:
    """Put the hashes file back if it was deleted."""
    found = disk.stat(HASHES)
    if found is None or found.ident != state.hashes.ident:
        state.hashes, _ = _copy(disk, state.hashes, HASHES, stored_count(state.records) * HASH_BYTES)


def restore_notes(location: TrailLocation, state: TrailState) -> None:
    """Put the checkpoints back if their file was deleted or replaced, and note that this must be recorded."""
    found = location.disk.stat(CHECKPOINTS)
    if found is not None and found.ident == state.notes.ident:
        return
    size = state.notes.size()
    state.notes, digest = _copy(location.disk, state.notes, CHECKPOINTS, size)
    recovery = Recovery(timestamp=location.stamp(), reason="restored", size=size, digest=digest, kept_as=CHECKPOINTS)
    state.recoveries.append(recovery)


def _copy(disk: Disk, source: OpenFile, name: str, size: int) -> tuple[OpenFile, str]:
    """Copy the first `size` bytes of an open file to a name, durably. Returns the copy and the digest of the bytes."""
    digest = sha256()
    with ExitStack() as opened:
        target = opened.enter_context(closing(disk.open(name, create=True)))
        target.truncate(0)
        for offset in range(0, size, BLOCK):
            block = source.read(offset, min(BLOCK, size - offset))
            digest.update(block)
            target.write(offset, block)
        target.sync()
        disk.sync()
        opened.pop_all()
    source.close()
    return target, PREFIX + digest.hexdigest()
