"""Finding the end of a log, whatever happened to it: a clean stop, a crash, another process that went on writing.

A start trusts what is signed: the newest checkpoint, or the anchor kept beside the key, gives the size and root of the
records before it; the stored hashes lead on from there, and only the lines behind it are read. Where the hashes do not
fit the signature they are made again from the records. What only the mirror has is put back.

An unfinished last line is what a crash leaves: it is kept in a file of its own and cut off. Anything else that does not
hold was not done by a crash: LogFault `damaged`, and `strictwire audit verify` tells more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, TypeAlias

from strictwire.audit.chain import GENESIS, maybe_leaf, maybe_link
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import HASH_BYTES, Frontier, read_frontier, stored_count
from strictwire.stores.fault import LogFault
from strictwire.stores.files.disk import Disk, Look, OpenFile, write_whole
from strictwire.stores.files.layout import (
    ACTIVE,
    BLOCK,
    HASHES,
    Segment,
    list_segments,
    read_hash,
    read_last_note,
    read_lines,
    torn_name,
)
from strictwire.stores.files.mirror import read_mirrored
from strictwire.stores.files.state import Tail

DAMAGED: Final = "damaged"


@dataclass(frozen=True, slots=True)
class SetAside:
    """What a crash left of a line, and the file it is kept in now."""

    name: str
    data: bytes


Keep: TypeAlias = Callable[[SetAside], None]
"""Told what was set aside."""


def load_tail(disk: Disk, key: PublicKey, anchor: bytes | None, keep: Keep) -> Tail:
    """Find the end of the log, making its files if there are none. Raises LogFault, OSError."""
    segments = list_segments(disk)
    checkpoint = _newest_checkpoint(disk, key, anchor)
    hashes = disk.open(HASHES, create=True)
    replay = _signed_start(hashes, checkpoint) or _bare_start(hashes, segments, checkpoint)
    for segment in segments:
        if segment.name != ACTIVE:
            _replay_sealed(disk, segment, replay)
    file = disk.open(ACTIVE, create=True)
    if not any(segment.name == ACTIVE for segment in segments):
        disk.sync()
    end, torn = _replay_active(disk, file, replay)
    end, torn = _replay_mirror(disk, file, replay, end, torn)
    replay.finish()
    tail = Tail(
        file=file,
        hashes=hashes,
        first=replay.active_first,
        size=end,
        tree=replay.tree,
        fresh=[],
        head=replay.head,
        signed=0 if checkpoint is None else checkpoint.size,
    )
    _settle_torn(disk, tail, torn, keep)
    return tail


def catch_up(disk: Disk, tail: Tail, found: Look | None, keep: Keep) -> bool:
    """Take in what another process appended to the file we know. False where it is another file or became shorter."""
    if found is None or found.ident != tail.file.ident or found.size < tail.size:
        return False
    tail.take_in(found.size)
    torn = b"" if tail.size == found.size else _as_torn(tail.file, tail.size, tail.records)
    _settle_torn(disk, tail, torn, keep)
    return True


class _Replay:
    """Records taken in one by one; what does not continue the chain is not."""

    def __init__(self, *, tree: Frontier, head: bytes, hashes: OpenFile, checkpoint: Checkpoint | None) -> None:
        self.tree = tree
        self.head = head
        self.active_first = tree.size
        self._hashes = hashes
        self._offset = stored_count(tree.size) * HASH_BYTES
        self._known: list[bytes] = []
        self._checkpoint = checkpoint

    def take(self, line: bytes) -> bool:
        """Whether the line is the next record; then the tree has it."""
        leaf = maybe_leaf(line, seq=self.tree.size, prev=self.head)
        if leaf is None:
            return False
        self.head = leaf
        self._known += self.tree.push(leaf)
        if len(self._known) * HASH_BYTES >= BLOCK:
            self._write_known()
        if self._checkpoint is not None and self.tree.size == self._checkpoint.size:
            self._check_root(self._checkpoint)
        return True

    def take_lines(self, file: OpenFile, offset: int) -> tuple[int, bytes]:
        """Take in a file from a place on: where the records end, and what stands behind them."""
        for line in read_lines(file, offset):
            if not self.take(line):
                return offset, _as_torn(file, offset, self.tree.size)
            offset += len(line)
        return offset, b""

    def finish(self) -> None:
        """All records were taken in: those that were signed for are among them."""
        self._write_known()
        if self._checkpoint is not None and self.tree.size < self._checkpoint.size:
            raise LogFault(DAMAGED, record=self.tree.size)

    def _check_root(self, checkpoint: Checkpoint) -> None:
        if self.tree.root() != checkpoint.root:
            raise LogFault(DAMAGED, record=checkpoint.size - 1)

    def _write_known(self) -> None:
        data = b"".join(self._known)
        self._known.clear()
        if data:
            self._hashes.write(self._offset, data)
            self._offset += len(data)


def read_checkpoint(note: bytes, key: PublicKey) -> Checkpoint:
    """A note of ours. Raises LogFault where it is not signed by the key as it stands."""
    try:
        return open_checkpoint(note, key)
    except NoteRefused as refused:
        raise LogFault(f"checkpoint_{refused.fault}") from None


def _newest_checkpoint(disk: Disk, key: PublicKey, anchor: bytes | None) -> Checkpoint | None:
    note, _ = read_last_note(disk)
    found = [read_checkpoint(text, key) for text in (note, anchor) if text]
    return max(found, key=lambda checkpoint: checkpoint.size, default=None)


def _signed_start(hashes: OpenFile, checkpoint: Checkpoint | None) -> _Replay | None:
    """Go on from the checkpoint, if the stored hashes lead to its root."""
    if checkpoint is None:
        return None
    tree = read_frontier(checkpoint.size, lambda level, index: read_hash(hashes, level, index))
    head = read_hash(hashes, 0, checkpoint.size - 1)
    if tree.root() != checkpoint.root or len(head) != HASH_BYTES:
        return None
    return _Replay(tree=tree, head=head, hashes=hashes, checkpoint=checkpoint)


def _bare_start(hashes: OpenFile, segments: list[Segment], checkpoint: Checkpoint | None) -> _Replay:
    """Go on from the first record there is. Before it, after a prune, the stored hashes have to be enough."""
    first = next((segment.first for segment in segments if segment.first is not None), 0)
    tree = read_frontier(first, lambda level, index: read_hash(hashes, level, index))
    head = read_hash(hashes, 0, first - 1) if first else GENESIS
    if len(head) != HASH_BYTES or any(len(peak) != HASH_BYTES for peak in tree.peaks):
        raise LogFault(DAMAGED, record=0)
    return _Replay(tree=tree, head=head, hashes=hashes, checkpoint=checkpoint)


def _replay_sealed(disk: Disk, segment: Segment, replay: _Replay) -> None:
    """An older file is whole. Most lie before the start and are not opened."""
    if segment.first is None or segment.first != replay.tree.size:
        return
    file = disk.open(segment.name)
    try:
        _, rest = replay.take_lines(file, 0)
    finally:
        file.close()
    if rest:
        raise LogFault(DAMAGED, record=replay.tree.size)


def _replay_active(disk: Disk, file: OpenFile, replay: _Replay) -> tuple[int, bytes]:
    lines = read_lines(file)
    first = next(lines, b"")
    start = _number_of(first)
    if start is None or start >= replay.tree.size:
        _check_older_files(disk, replay.tree.size)
        replay.active_first = replay.tree.size
        return replay.take_lines(file, 0)
    # The records before the checkpoint are signed for; only their number matters here.
    replay.active_first = start
    offset = len(first)
    for record in range(start + 1, replay.tree.size):
        line = next(lines, b"")
        if not line.endswith(b"\n"):
            raise LogFault(DAMAGED, record=record)
        offset += len(line)
    return replay.take_lines(file, offset)


def _replay_mirror(disk: Disk, file: OpenFile, replay: _Replay, end: int, torn: bytes) -> tuple[int, bytes]:
    """Put back what was synced in the mirror alone: where the records end then, and what stands behind them."""
    lines = b"".join(line for line in takewhile(replay.take, read_mirrored(disk, replay.head)))
    if not lines:
        return end, torn
    file.write(end, lines)
    file.sync()
    end += len(lines)
    return end, _as_torn(file, end, replay.tree.size)


def _check_older_files(disk: Disk, size: int) -> None:
    """Where the newest file begins with record `size`, the file before it ends with the one before that."""
    sealed = [segment for segment in list_segments(disk) if segment.name != ACTIVE]
    last = _last_record(disk, sealed[-1].name) if sealed else -1
    if last < size - 1:
        raise LogFault(DAMAGED, record=last + 1)


def _last_record(disk: Disk, name: str) -> int:
    """The number of the last record of an older file; -1 where its end is not one."""
    look = disk.look(name)
    file = disk.open(name)
    size, count, tail = 0 if look is None else look.size, 4096, b""
    try:
        while b"\n" not in tail[:-1] and len(tail) < size:
            tail = file.read(max(0, size - count), min(size, count))
            count *= 4
    finally:
        file.close()
    number = _number_of(tail[:-1].rpartition(b"\n")[2])
    return -1 if number is None else number


def _number_of(line: bytes) -> int | None:
    link = maybe_link(line)
    return None if link is None else link.seq


def _as_torn(file: OpenFile, offset: int, record: int) -> bytes:
    """What stands behind the last record, if a crash can have left it: one unfinished line, or a hole of zeros."""
    data = b""
    while block := file.read(offset + len(data), BLOCK):
        data += block
    if b"\n" in data and b"\x00" not in data:
        raise LogFault(DAMAGED, record=record)
    return data


def _settle_torn(disk: Disk, tail: Tail, torn: bytes, keep: Keep) -> None:
    name = torn_name(tail.records)
    if torn:
        write_whole(disk, name, torn)
        tail.file.truncate(tail.size)
        tail.file.sync()
        keep(SetAside(name, torn))
    elif (found := disk.look(name)) is not None:
        # A crash came between cutting the line off and recording it.
        file = disk.open(name)
        try:
            keep(SetAside(name, file.read(0, found.size)))
        finally:
            file.close()
