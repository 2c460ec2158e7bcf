"""The writer of a trail: appends batches of records so that each costs the same however long the log is.

One commit is: take the lock; look whether the log still ends where we left it; write the hashes, then the lines; sync; let
the lock go. Whatever fails in between is undone, and what cannot be undone is settled by reading the log's end again
before the next commit (`recovery`). Nothing here knows of event loops; calls block.

Not here: grouping calls into batches, schedules (`stores.jsonl`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from strictwire.audit.chain import seal_batch
from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import Recovery, render_body
from strictwire.audit.merkle import HASH_BYTES, stored_count
from strictwire.canon.digest import digest_bytes
from strictwire.stores.trail.disk import Disk, OpenFile, write_whole
from strictwire.stores.trail.fault import LogFault, mapped_errors
from strictwire.stores.trail.layout import ACTIVE, BLOCK, CHECKPOINTS, HASHES, read_last_note, sealed_name
from strictwire.stores.trail.lock import Lock
from strictwire.stores.trail.recovery import SetAside, Tail, catch_up, load_tail

ROTATE_BYTES: Final = 64 << 20
"""When a new file is begun. A start reads at most this much; ten gigabytes are 160 files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a trail is kept and what vouches for it."""

    disk: Disk
    lock: Lock
    anchors: Disk
    """The folder beside the key, outside the trail."""
    anchor_name: str
    stamp: Callable[[], str]
    """The time for the records the log makes itself: ISO 8601, UTC, milliseconds."""
    rotate_bytes: int = ROTATE_BYTES


class TrailLog:
    """One writer of one log. Used by one thread at a time."""

    def __init__(self, place: Place, key: SigningKey) -> None:
        self._place = place
        self._disk = place.disk
        self._key = key
        self._tail: Tail | None = None
        self._aside: list[Recovery] = []
        self.unsynced = False
        """Whether something was written since the last sync."""
        self.unsigned = 0
        """How many records no checkpoint vouches for yet."""

    def open(self) -> None:
        """Find the end of the log and repair what a crash left. Raises LogFault."""
        with self._locked():
            self._current()

    def append(self, bodies: Sequence[bytes]) -> None:
        """Write records and sync them. Raises LogFault: then none of them is kept."""
        with self._locked():
            self._write(self._current(), bodies)
            self._sync_records()
            self._maybe_rotate()

    def append_unsynced(self, bodies: Sequence[bytes]) -> None:
        """Write records; a power cut before `sync` may lose them. Raises LogFault: then none of them is kept."""
        with self._locked():
            self._write(self._current(), bodies)
            self._maybe_rotate()

    def sync(self) -> None:
        """Make what was written durable. Raises LogFault."""
        if self.unsynced:
            with self._locked():
                self._current()
                self._sync_records()

    def sign(self) -> Checkpoint | None:
        """Sign a checkpoint of the log as it stands; None when the last one still covers it. Raises LogFault."""
        with self._locked():
            self._current()
            return self._sign()

    def rotate(self) -> None:
        """Close the newest file and let the next record begin a new one. Raises LogFault."""
        with self._locked():
            self._current()
            self._rotate()

    @contextmanager
    def exclusively(self) -> Iterator[Tail]:
        """Hold the lock for a longer change of the folder. Raises LogFault."""
        with self._locked():
            yield self._current()

    def close(self) -> None:
        """Give the files back. What was not synced or signed stays so."""
        self._forget()
        self._place.lock.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._place.lock.acquire()
        try:
            with mapped_errors():
                yield
        except LogFault:
            # Whatever we thought to know of the end of the log, the next commit reads it again.
            self._release_tail()
            raise
        finally:
            self._place.lock.release()

    def _current(self) -> Tail:
        """The end of the log as it is now: ours, or what another process made of it meanwhile."""
        tail = self._tail
        found = self._disk.look(ACTIVE)
        if tail is not None and tail.matches(found):
            return tail
        if tail is not None and found is None and tail.file is not None:
            self._restore(tail)
        if tail is None or not catch_up(tail, found, self._set_aside):
            self._forget()
            tail = self._tail = load_tail(self._place.disk, self._key.public, self._read_anchor(), self._set_aside)
        self.unsigned = tail.tree.size - tail.signed
        if self._aside:
            self._write(tail, [render_body(event) for event in self._aside])
            self._sync_records()
            self._aside.clear()
        return tail

    def _write(self, tail: Tail, bodies: Sequence[bytes]) -> None:
        tree = tail.tree.copy()
        sealed = seal_batch(bodies, frontier=tree, head=tail.head)
        if tail.file is None:
            tail.begin(self._disk.open(ACTIVE, create=True))
            self._disk.sync()
        file = _as_open(tail.file)
        tail.hashes.write(stored_count(tail.tree.size) * HASH_BYTES, sealed.hashes)
        try:
            file.write(tail.size, sealed.lines)
        except OSError:
            file.truncate(tail.size)
            raise
        self.unsynced = True
        self.unsigned += len(bodies)
        tail.grow(tree, sealed)

    def _sync_records(self) -> None:
        tail = self._tail
        if tail is None or tail.file is None:
            return
        try:
            tail.file.sync()
        except OSError:
            # After a failed sync the system may hold the pages for clean: what was not durable goes, and is told so.
            tail.file.truncate(tail.synced)
            raise
        tail.synced = tail.size
        self.unsynced = False

    def _maybe_rotate(self) -> None:
        if self._tail is not None and self._tail.size >= self._place.rotate_bytes:
            self._rotate()

    def _rotate(self) -> None:
        tail = self._tail
        if tail is None or tail.file is None or not tail.size:
            return
        # Signed first: a start never has to look for the end of the signed records in an older file.
        self._sign()
        self._disk.rename(ACTIVE, sealed_name(tail.first))
        self._disk.sync()
        tail.end_file()

    def _sign(self) -> Checkpoint | None:
        tail = self._tail
        if tail is None or tail.tree.size == tail.signed:
            return None
        self._sync_records()
        self._keep_hashes(tail)
        tail.hashes.sync()
        checkpoint = self._key.sign(size=tail.tree.size, root=tail.tree.root())
        self._write_note(checkpoint.note)
        write_whole(self._place.anchors, self._place.anchor_name, checkpoint.note)
        tail.signed = checkpoint.size
        self.unsigned = 0
        return checkpoint

    def _write_note(self, note: bytes) -> None:
        _, end = read_last_note(self._disk)
        found = self._disk.look(CHECKPOINTS)
        file = self._disk.open(CHECKPOINTS, create=True)
        try:
            if found is not None and found.size > end:
                file.truncate(end)
            file.write(end, note)
            file.sync()
        finally:
            file.close()
        if found is None:
            self._disk.sync()

    def _keep_hashes(self, tail: Tail) -> None:
        """The file of hashes was deleted while we hold it open: put it back."""
        found = self._disk.look(HASHES)
        if found is None or found.ident != tail.hashes.ident:
            tail.hashes = _copy(self._disk, tail.hashes, HASHES, stored_count(tail.tree.size) * HASH_BYTES)

    def _restore(self, tail: Tail) -> None:
        """The log was deleted while we hold it open: put it back, if its folder is there again."""
        if self._disk.look(".") is None:
            raise LogFault("folder_missing")
        old = _as_open(tail.file)
        digest = digest_bytes(old.read(0, tail.size))
        self._keep_hashes(tail)
        tail.file = _copy(self._disk, old, ACTIVE, tail.size)
        tail.signed = 0 if self._disk.look(CHECKPOINTS) is None else tail.signed
        self._aside.append(
            Recovery(timestamp=self._place.stamp(), reason="restored", size=tail.size, digest=digest, kept_as=ACTIVE)
        )

    def _set_aside(self, torn: SetAside) -> None:
        self._aside.append(
            Recovery(
                timestamp=self._place.stamp(),
                reason="torn_line",
                size=len(torn.data),
                digest=digest_bytes(torn.data),
                kept_as=torn.name,
            )
        )

    def _read_anchor(self) -> bytes | None:
        try:
            file = self._place.anchors.open(self._place.anchor_name)
        except FileNotFoundError:
            return None
        try:
            return file.read(0, BLOCK)
        finally:
            file.close()

    def _release_tail(self) -> None:
        """Keep the open file for `_restore`, but trust nothing that was known about it."""
        if self._tail is not None:
            self._tail.doubt()

    def _forget(self) -> None:
        if self._tail is not None:
            self._tail.close()
        self._tail = None
        self._aside.clear()


def _as_open(file: OpenFile | None) -> OpenFile:
    if file is None:
        raise LogFault("closed")
    return file


def _copy(disk: Disk, source: OpenFile, name: str, size: int) -> OpenFile:
    """A new file with the first `size` bytes of another, durable; the other is given back."""
    target = disk.open(name, create=True)
    for offset in range(0, size, BLOCK):
        target.write(offset, source.read(offset, min(BLOCK, size - offset)))
    target.sync()
    disk.sync()
    source.close()
    return target
