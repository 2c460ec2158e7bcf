"""Finds the end of a log after a clean stop, a crash, or writes by another process.

To find the end, the anchor beside the key (`anchor`) is trusted, and what the key has signed since. The newest checkpoint
gives size and root of the records before it; the stored hashes lead on from there. Only later lines are read, and each must
have the tag of a writer with the key, so that nothing is signed that was not verified. Hashes that do not match the
signature are rebuilt from the records. A log without an anchor is verified from its first record, and so is a small log when
a server starts.

A crash leaves an incomplete last line. It is moved to a file of its own and recorded. Anything else that does not fit was
not done by a crash: LogFault `damaged`; `strictwire audit verify` says more, and `strictwire audit repair` is the way on.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import Final

from strictwire.audit.chain import GENESIS, is_authentic, maybe_leaf, maybe_link
from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import Recovery
from strictwire.audit.merkle import HASH_BYTES, Frontier, read_frontier, stored_count
from strictwire.canon.digest import digest_bytes
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.stores.files.anchor import Evidence
from strictwire.stores.files.disk import Disk, FileInfo, OpenFile, replace_file
from strictwire.stores.files.inventory import find_gap, find_stray
from strictwire.stores.files.layout import (
    ACTIVE,
    BLOCK,
    CHECKPOINTS,
    HASHES,
    Segment,
    list_segments,
    read_hash,
    read_lines,
    torn_name,
)
from strictwire.stores.files.location import TrailLocation
from strictwire.stores.files.removal import remove_before
from strictwire.stores.files.search import lines_back
from strictwire.stores.files.state import LogEnd, TrailState
from strictwire.stores.files.trust import (
    count_checkpoints,
    make_anchor,
    newest_checkpoint,
    refuse_cut,
    refuse_finding,
    refuse_pruned,
)
from strictwire.stores.files.verify import verify_disk

VERIFIED_BYTES: Final = 32 * 1024 * 1024
"""A log up to this size is verified whole when a server starts. That takes 0.25 s; it is the log of about 45,000 calls."""


def refuse_altered(disk: Disk, key: SigningKey) -> None:
    """Refuse a log whose signed records were altered, if it is small enough to read. Raises LogFault, OSError."""
    found = [disk.stat(segment.name) for segment in list_segments(disk)]
    if sum(each.size for each in found if each is not None) <= VERIFIED_BYTES:
        refuse_finding(verify_disk(disk, key.public, Evidence(tag_key=key.tag_key)).finding)


def load_state(location: TrailLocation, key: SigningKey) -> TrailState:
    """Find the end of the log and repair what a crash left, creating missing files. Raises LogFault, OSError."""
    disk = location.disk
    refuse_finding(find_stray(disk))
    anchor = location.read_anchor(key.public)
    with ExitStack() as opened:
        hashes = opened.enter_context(closing(disk.open(HASHES, create=True)))
        notes = opened.enter_context(closing(disk.open(CHECKPOINTS, create=True)))
        mark = opened.enter_context(closing(location.anchors.open(location.mark_name, create=True)))
        checkpoint = newest_checkpoint(notes, anchor, key.public)
        if anchor is None and list_segments(disk):
            refuse_finding(verify_disk(disk, key.public, Evidence(tag_key=key.tag_key)).finding)
        remove_before(disk, checkpoint.first)
        refuse_finding(find_gap(disk, checkpoint.first))
        segments = list_segments(disk)
        refuse_pruned(segments, checkpoint)
        replay = _signed_start(hashes, checkpoint, key) or _bare_start(hashes, segments, checkpoint, key)
        for segment in segments:
            if segment.name != ACTIVE:
                _replay_older(disk, segment, replay)
        file = opened.enter_context(closing(disk.open(ACTIVE, create=True)))
        # Always: a rotation that failed may have left names that a power cut would take back.
        disk.sync()
        first, size, rest = _replay_active(disk, file, replay, checkpoint.first)
        replay.finish()
        refuse_cut(mark, location.boot, replay.tree.size)
        state = TrailState(
            file=file,
            hashes=hashes,
            notes=notes,
            mark=mark,
            boot=location.boot.encode(),
            first=first,
            end=LogEnd(size, replay.tree, replay.head),
            signed=checkpoint.size,
            number=checkpoint.number or count_checkpoints(disk, key.public),
            base=checkpoint.first,
            durable_records=checkpoint.size,
        )
        if anchor is None:
            make_anchor(location, state, key, checkpoint)
        _settle_torn(location, state, rest)
        opened.pop_all()
    return state


def catch_up(location: TrailLocation, state: TrailState, found: FileInfo | None, key: SigningKey) -> bool:
    """Take in what another process appended. False if the active file is another one, or shorter than known."""
    if found is None or found.ident != state.file.ident or found.size < state.end.size:
        return False
    state.store_hashes()
    replay = _Replay(
        tree=state.end.tree.copy(), head=state.end.head, hashes=state.hashes, checkpoint=None, tag_key=key.tag_key
    )
    size, rest = replay.take_lines(state.file, state.end.size)
    replay.finish()
    state.end = LogEnd(size, replay.tree, replay.head)
    _settle_torn(location, state, rest)
    return True


class _Replay:
    """Takes in records one by one and stores their hashes."""

    def __init__(
        self, *, tree: Frontier, head: bytes, hashes: OpenFile, checkpoint: Checkpoint | None, tag_key: bytes
    ) -> None:
        self.tree = tree
        self.head = head
        self._hashes = hashes
        self._offset = stored_count(tree.size) * HASH_BYTES
        self._unstored: list[bytes] = []
        self._checkpoint = checkpoint
        self._signed = 0 if checkpoint is None else checkpoint.size
        self._tag_key = tag_key

    def take(self, line: bytes) -> bool:
        """Take in a line if it is the next record. Raises LogFault if the tree does not have its signed root."""
        leaf = maybe_leaf(line, seq=self.tree.size, prev=self.head)
        if leaf is None:
            return False
        if self.tree.size >= self._signed and not is_authentic(line[:-1], prev=self.head, tag_key=self._tag_key):
            raise LogFault(DAMAGED, record=self.tree.size, detail="it was not written by a server with the key")
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


def _signed_start(hashes: OpenFile, checkpoint: Checkpoint, key: SigningKey) -> _Replay | None:
    """Start at the checkpoint, if the stored hashes lead to its root."""
    if not checkpoint.size:
        return None
    tree = read_frontier(checkpoint.size, lambda level, index: read_hash(hashes, level, index))
    head = read_hash(hashes, 0, checkpoint.size - 1)
    if tree.root() != checkpoint.root or len(head) != HASH_BYTES:
        return None
    return _Replay(tree=tree, head=head, hashes=hashes, checkpoint=checkpoint, tag_key=key.tag_key)


def _bare_start(hashes: OpenFile, segments: list[Segment], checkpoint: Checkpoint, key: SigningKey) -> _Replay:
    """Start at the first record that is left. After a prune, the stored hashes must cover what was removed."""
    first = next((segment.first for segment in segments if segment.first is not None), 0)
    tree = read_frontier(first, lambda level, index: read_hash(hashes, level, index))
    head = read_hash(hashes, 0, first - 1) if first else GENESIS
    if len(head) != HASH_BYTES or any(len(peak) != HASH_BYTES for peak in tree.peaks):
        raise LogFault(DAMAGED, record=0)
    return _Replay(tree=tree, head=head, hashes=hashes, checkpoint=checkpoint, tag_key=key.tag_key)


def _replay_older(disk: Disk, segment: Segment, replay: _Replay) -> None:
    """Take in an older file, which must be complete. Most lie before the start and are not opened."""
    if segment.first is None or segment.first != replay.tree.size:
        return
    with closing(disk.open(segment.name)) as file:
        _, rest = replay.take_lines(file, 0)
    if rest:
        raise LogFault(DAMAGED, record=replay.tree.size)


def _replay_active(disk: Disk, file: OpenFile, replay: _Replay, base: int) -> tuple[int, int, bytes]:
    """Take in the active file: its first record, where its records end, and what a crash left after them."""
    lines = read_lines(file)
    first_line = next(lines, b"")
    first = _seq_of(first_line)
    if first is None or first >= replay.tree.size:
        if replay.tree.size > base:
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
