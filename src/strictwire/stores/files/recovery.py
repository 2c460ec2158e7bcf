"""Finds the end of a log after a clean stop, a crash, or writes by another process.

A start trusts what is signed. The newest checkpoint (in the log or in the anchor beside the key) gives size and root of
the records before it; the stored hashes lead on from there, and only later lines are read. Hashes that do not match the
signature are rebuilt from the records.

A crash leaves an incomplete last line. It is moved to a file of its own and recorded. Anything else that does not fit was
not done by a crash: LogFault `damaged`; `strictwire audit verify` says more.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from itertools import takewhile

from strictwire.audit.chain import GENESIS, maybe_leaf, maybe_link
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.event import Recovery
from strictwire.audit.merkle import HASH_BYTES, Frontier, read_frontier, stored_count
from strictwire.canon.digest import digest_bytes
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.stores.files.disk import Disk, FileInfo, OpenFile, replace_file
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
from strictwire.stores.files.location import TrailLocation
from strictwire.stores.files.old_mirror import MIRROR, read_mirrored, remove_mirror
from strictwire.stores.files.search import lines_back
from strictwire.stores.files.state import LogEnd, TrailState


def load_state(location: TrailLocation, key: PublicKey) -> TrailState:
    """Find the end of the log and repair what a crash left, creating missing files. Raises LogFault, OSError."""
    disk = location.disk
    segments = list_segments(disk)
    checkpoint = newest_checkpoint(location, key)
    with ExitStack() as opened:
        hashes = opened.enter_context(closing(disk.open(HASHES, create=True)))
        replay = _signed_start(hashes, checkpoint) or _bare_start(hashes, segments, checkpoint)
        for segment in segments:
            if segment.name != ACTIVE:
                _replay_older(disk, segment, replay)
        file = opened.enter_context(closing(disk.open(ACTIVE, create=True)))
        # Always: a rotation that failed may have left names that a power cut would take back.
        disk.sync()
        first, size, rest = _replay_active(disk, file, replay)
        has_mirror = disk.stat(MIRROR) is not None
        if has_mirror:
            size, rest = _replay_mirror(disk, file, replay, size, rest)
        replay.finish()
        end = LogEnd(size, replay.tree, replay.head)
        signed = 0 if checkpoint is None else checkpoint.size
        state = TrailState(file=file, hashes=hashes, first=first, end=end, signed=signed)
        _settle_torn(location, state, rest)
        if has_mirror:
            remove_mirror(disk)
        opened.pop_all()
    return state


def catch_up(location: TrailLocation, state: TrailState, found: FileInfo | None) -> bool:
    """Take in what another process appended. False if the active file is another one, or shorter than known."""
    if found is None or found.ident != state.file.ident or found.size < state.end.size:
        return False
    state.store_hashes()
    replay = _Replay(tree=state.end.tree.copy(), head=state.end.head, hashes=state.hashes, checkpoint=None)
    size, rest = replay.take_lines(state.file, state.end.size)
    replay.finish()
    state.end = LogEnd(size, replay.tree, replay.head)
    _settle_torn(location, state, rest)
    return True


def newest_checkpoint(location: TrailLocation, key: PublicKey) -> Checkpoint | None:
    """The newest signed checkpoint, in the log or in the anchor. Raises LogFault for one that is not signed by the key."""
    note, _ = read_last_note(location.disk)
    found = [read_checkpoint(text, key) for text in (note, location.read_anchor()) if text]
    return max(found, key=lambda checkpoint: checkpoint.size, default=None)


def read_checkpoint(note: bytes, key: PublicKey) -> Checkpoint:
    """Read a note. Raises LogFault if it is not signed by the key."""
    try:
        return open_checkpoint(note, key)
    except NoteRefused as refused:
        raise LogFault(f"checkpoint_{refused.fault}") from None


class _Replay:
    """Takes in records one by one and stores their hashes."""

    def __init__(self, *, tree: Frontier, head: bytes, hashes: OpenFile, checkpoint: Checkpoint | None) -> None:
        self.tree = tree
        self.head = head
        self._hashes = hashes
        self._offset = stored_count(tree.size) * HASH_BYTES
        self._unstored: list[bytes] = []
        self._checkpoint = checkpoint

    def take(self, line: bytes) -> bool:
        """Take in a line if it is the next record. Raises LogFault if the tree does not have its signed root."""
        leaf = maybe_leaf(line, seq=self.tree.size, prev=self.head)
        if leaf is None:
            return False
        self.head = leaf
        self._unstored += self.tree.push(leaf)
        if len(self._unstored) * HASH_BYTES >= BLOCK:
            self._store_hashes()
        signed = self._checkpoint
        if signed is not None and self.tree.size == signed.size and self.tree.root() != signed.root:
            raise LogFault(DAMAGED, record=signed.size - 1)
        return True

    def take_lines(self, file: OpenFile, offset: int) -> tuple[int, bytes]:
        """Take in a file from an offset on: where its records end, and what a crash left after them."""
        for line in read_lines(file, offset):
            if not self.take(line):
                return offset, _read_torn(file, offset, self.tree.size)
            offset += len(line)
        return offset, b""

    def finish(self) -> None:
        """Store the last hashes. Raises LogFault if signed records are missing."""
        self._store_hashes()
        if self._checkpoint is not None and self.tree.size < self._checkpoint.size:
            raise LogFault(DAMAGED, record=self.tree.size)

    def _store_hashes(self) -> None:
        data = b"".join(self._unstored)
        self._unstored.clear()
        if data:
            self._hashes.write(self._offset, data)
            self._offset += len(data)


def _signed_start(hashes: OpenFile, checkpoint: Checkpoint | None) -> _Replay | None:
    """Start at the checkpoint, if the stored hashes lead to its root."""
    if checkpoint is None:
        return None
    tree = read_frontier(checkpoint.size, lambda level, index: read_hash(hashes, level, index))
    head = read_hash(hashes, 0, checkpoint.size - 1)
    if tree.root() != checkpoint.root or len(head) != HASH_BYTES:
        return None
    return _Replay(tree=tree, head=head, hashes=hashes, checkpoint=checkpoint)


def _bare_start(hashes: OpenFile, segments: list[Segment], checkpoint: Checkpoint | None) -> _Replay:
    """Start at the first record that is left. After a prune, the stored hashes must cover what was removed."""
    first = next((segment.first for segment in segments if segment.first is not None), 0)
    tree = read_frontier(first, lambda level, index: read_hash(hashes, level, index))
    head = read_hash(hashes, 0, first - 1) if first else GENESIS
    if len(head) != HASH_BYTES or any(len(peak) != HASH_BYTES for peak in tree.peaks):
        raise LogFault(DAMAGED, record=0)
    return _Replay(tree=tree, head=head, hashes=hashes, checkpoint=checkpoint)


def _replay_older(disk: Disk, segment: Segment, replay: _Replay) -> None:
    """Take in an older file, which must be complete. Most lie before the start and are not opened."""
    if segment.first is None or segment.first != replay.tree.size:
        return
    with closing(disk.open(segment.name)) as file:
        _, rest = replay.take_lines(file, 0)
    if rest:
        raise LogFault(DAMAGED, record=replay.tree.size)


def _replay_active(disk: Disk, file: OpenFile, replay: _Replay) -> tuple[int, int, bytes]:
    """Take in the active file: its first record, where its records end, and what a crash left after them."""
    lines = read_lines(file)
    first_line = next(lines, b"")
    first = _seq_of(first_line)
    if first is None or first >= replay.tree.size:
        _check_older_files(disk, replay.tree.size)
        start = replay.tree.size
        return start, *replay.take_lines(file, 0)
    # The records before the checkpoint are covered by its signature; here only their number matters.
    offset = len(first_line)
    for record in range(first + 1, replay.tree.size):
        line = next(lines, b"")
        if not line.endswith(b"\n"):
            raise LogFault(DAMAGED, record=record)
        offset += len(line)
    return first, *replay.take_lines(file, offset)


def _replay_mirror(disk: Disk, file: OpenFile, replay: _Replay, size: int, rest: bytes) -> tuple[int, bytes]:
    """Put back records that only the mirror of an earlier version holds, so that it can be deleted."""
    lines: list[bytes] = list(takewhile(replay.take, read_mirrored(disk, replay.head)))
    if lines:
        file.write(size, b"".join(lines))
        size += sum(map(len, lines))
        rest = _read_torn(file, size, replay.tree.size)
    # Also without new lines: what the log holds may have been synced in the mirror only.
    file.sync()
    return size, rest


def _check_older_files(disk: Disk, size: int) -> None:
    """If the active file starts with record `size`, the file before it must end with record `size - 1`."""
    older = [segment for segment in list_segments(disk) if segment.name != ACTIVE]
    last = -1
    if older:
        with closing(disk.open(older[-1].name)) as file:
            seq = _seq_of(next(lines_back(file, file.size()), b""))
            last = -1 if seq is None else seq
    if last < size - 1:
        raise LogFault(DAMAGED, record=last + 1)


def _seq_of(line: bytes) -> int | None:
    link = maybe_link(line)
    return None if link is None else link.seq


def _read_torn(file: OpenFile, offset: int, record: int) -> bytes:
    """What follows the last record. Raises LogFault unless a crash can have left it: an incomplete line, or zeros."""
    data = file.read(offset, max(0, file.size() - offset))
    if b"\n" in data and b"\x00" not in data:
        raise LogFault(DAMAGED, record=record)
    return data


def _settle_torn(location: TrailLocation, state: TrailState, torn: bytes) -> None:
    """Move an incomplete line to a file of its own, and note that this must be recorded."""
    disk, name = location.disk, torn_name(state.records)
    if torn:
        replace_file(disk, name, torn)
        state.file.truncate(state.end.size)
        state.file.sync()
    elif disk.stat(name) is not None:
        # A crash came after the line was moved and before that was recorded.
        with closing(disk.open(name)) as file:
            torn = file.read(0, file.size())
    else:
        return
    recovery = Recovery(
        timestamp=location.stamp(), reason="torn_line", size=len(torn), digest=digest_bytes(torn), kept_as=name
    )
    state.recoveries.append(recovery)
