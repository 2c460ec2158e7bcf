"""The writer of a trail: appends batches of records so that each costs the same however long the log is.

One commit is: take the lock; look whether the log still ends where we left it; write the lines; sync; let the lock go.
Whatever fails in between is undone, and what cannot be undone is settled by reading the log's end again before the next
commit (`recovery`). The hashes of the tree are stored for many records at a time. Nothing here knows of event loops; calls
block.

Not here: grouping calls into batches, schedules (`stores.files.trail`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from strictwire.audit.chain import Sealed, seal_batch
from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import Recovery, render_body
from strictwire.canon.digest import digest_bytes
from strictwire.stores.fault import LogFault, fault_of, mapped_errors
from strictwire.stores.files.disk import Disk, Look, write_whole
from strictwire.stores.files.layout import ACTIVE, BLOCK, sealed_name, write_note
from strictwire.stores.files.lock import Lock
from strictwire.stores.files.mirror import MIRROR_BYTES, Mirror, maybe_open_mirror
from strictwire.stores.files.recovery import SetAside, catch_up, load_tail, read_checkpoint
from strictwire.stores.files.restore import keep_hashes, restore, was_rotated
from strictwire.stores.files.state import FRESH_RECORDS, MAX_FRESH, Tail

ROTATE_BYTES: Final = 64 << 20
"""When a new file is begun. A start reads at most this much; ten gigabytes are 160 files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailLocation:
    """Where a trail is kept and what vouches for it."""

    disk: Disk
    lock: Lock
    anchors: Disk
    """The folder beside the key, outside the trail."""
    anchor_name: str
    stamp: Callable[[], str]
    """The time for the records the log makes itself: ISO 8601, UTC, milliseconds."""
    rotate_bytes: int = ROTATE_BYTES


class TrailWriter:
    """One writer of one log. Used by one thread at a time."""

    def __init__(self, place: TrailLocation, key: SigningKey) -> None:
        self._place = place
        self._disk = place.disk
        self._key = key
        self._tail: Tail | None = None
        self._doubtful = False
        """Whether the end of the log has to be read again before anything is written behind it."""
        self._aside: list[Recovery] = []
        self._floor = 0
        """Bytes of the newest file that are not ours to take back: on disk for certain, or written by another process."""
        self._mirror: Mirror | None = None
        self._mirrored = 0
        """From here on all of the newest file is in the mirror."""
        self._kept = 0
        """Bytes of the newest file that are on disk in it for certain."""
        self._suspect = False
        """Whether a sync of it failed: the system may hold the pages behind those for clean, and they have to be written
        again."""
        self.unsynced = False
        """Whether something was written since the last sync."""
        self.unsigned = 0
        """How many records no checkpoint vouches for yet."""

    def open(self) -> None:
        """Find the end of the log and repair what a crash left. Raises LogFault."""
        with self._locked():
            self._current()

    def maybe_open_mirror(self, size: int = MIRROR_BYTES) -> Mirror | None:
        """The mirror of this log, made ready for `use_mirror`; None if another process has it. Raises LogFault."""
        with mapped_errors():
            mirror = maybe_open_mirror(self._disk, size)
        if mirror is None:
            return None
        try:
            with self._locked():
                self._sync(self._current())
            with mapped_errors():
                mirror.prepare(self._disk)
        except LogFault:
            mirror.close()
            raise
        return mirror

    def use_mirror(self, mirror: Mirror) -> None:
        """From now on sync what is written in the mirror, and the log itself later."""
        self._mirror, self._mirrored = mirror, 0 if self._tail is None else self._tail.size

    def append(self, bodies: Sequence[bytes]) -> None:
        """Write records and sync them. Raises LogFault: then none of them is kept."""
        with self._locked():
            self._append(self._current(), bodies)
            self._maybe_rotate()

    def append_unsynced(self, bodies: Sequence[bytes]) -> None:
        """Write records; a power cut before `sync` may lose them. Raises LogFault: then none of them is kept."""
        with self._locked():
            self._write(self._current(), bodies)
            self._maybe_rotate()

    def try_append_unsynced(self, bodies: Sequence[bytes]) -> bool:
        """`append_unsynced` where nothing has to be waited for, else False: then another process writes right now or wrote
        a lot, the end of the log has to be looked for, or a new file is due. Raises LogFault: the disk refused."""
        tail, lock = self._tail, self._place.lock
        if tail is None or self._doubtful or self._aside or tail.size >= self._place.rotate_bytes:
            return False
        if not lock.try_acquire():
            return False
        try:
            found = self._disk.look(ACTIVE)
            if not tail.matches(found) and not self._catch_up_quickly(tail, found):
                return False
            self._write(tail, bodies)
        except OSError as exc:
            raise fault_of(exc) from exc
        finally:
            lock.release()
        return True

    @property
    def is_untidy(self) -> bool:
        """Whether hashes wait to be stored: with `tidy`, when nobody waits, or by a commit in the end."""
        tail = self._tail
        return tail is not None and len(tail.fresh) >= FRESH_RECORDS

    def tidy(self) -> None:
        """Store the hashes of the last records, unless another process writes right now. Raises LogFault."""
        tail, lock = self._tail, self._place.lock
        if tail is None or self._doubtful or not lock.try_acquire():
            return
        try:
            with mapped_errors():
                if tail.matches(self._disk.look(ACTIVE)):
                    tail.store_hashes()
        finally:
            lock.release()

    def _catch_up_quickly(self, tail: Tail, found: Look | None) -> bool:
        """Take in the few records that another process wrote since; False if it is more than that."""
        if found is None or found.size - tail.size > BLOCK or not catch_up(self._disk, tail, found, self._set_aside):
            return False
        self.unsigned = tail.records - tail.signed
        self._floor = self._mirrored = tail.size
        return not self._aside

    def sync(self) -> None:
        """Make what was written durable. Raises LogFault."""
        if self.unsynced:
            with self._locked():
                self._sync(self._current())

    def sync_written(self) -> None:
        """Make durable what `try_append_unsynced` wrote; another thread may do that again meanwhile, and nothing else.

        Raises LogFault: call `take_back` then.
        """
        tail = self._tail
        if tail is not None:
            written = tail.size
            try:
                if not self._sync_mirror(written):
                    self._sync_file(tail, written)
            except OSError as exc:
                raise fault_of(exc) from exc
            # Behind what another process wrote in the meantime the floor is higher already.
            self._floor = max(self._floor, written)

    @property
    def is_behind(self) -> bool:
        """Whether so much is synced in the mirror alone that the log itself should be: with `sync_behind`."""
        return self._mirror is not None and self._mirror.is_filling

    def sync_behind(self) -> None:
        """Sync the log itself, while another thread goes on with `try_append_unsynced` and `sync_written`.

        Raises LogFault: what is synced in the mirror stays there, and the log is written again before it is synced: by a
        commit or a checkpoint, since nothing may be taken back meanwhile.
        """
        tail = self._tail
        if tail is not None and not self._suspect:
            with mapped_errors():
                self._sync_file(tail, tail.size)

    def take_back(self) -> None:
        """After a sync that failed: the system may hold the pages for clean, so what is not on disk for certain goes."""
        self._doubtful = True
        with self._locked():
            tail = self._tail
            if tail is not None and tail.matches(self._disk.look(ACTIVE)):
                self._cut(tail, self._floor)

    def _cut(self, tail: Tail, size: int) -> None:
        """Take back what stands behind a place; nor may the mirror bring it back, which loses what it has not synced."""
        self._mirrored = max(self._mirrored, size)
        tail.file.truncate(size)
        if self._mirror is not None:
            self._mirror.take_back()

    def sign(self) -> Checkpoint | None:
        """Sign a checkpoint of the log as it stands; None when the last one still covers it. Raises LogFault."""
        with self._locked():
            return self._sign(self._current())

    @contextmanager
    def exclusively(self) -> Iterator[Tail]:
        """Hold the lock for a longer change of the folder. Raises LogFault."""
        with self._locked():
            yield self._current()

    def keep(self, tail: Tail, bodies: Sequence[bytes]) -> None:
        """Write records, sync and sign for them. For use in `exclusively`."""
        self._append(tail, bodies)
        self._sign(tail)

    def rotate(self, tail: Tail) -> None:
        """Make the newest file an older one and go on in a new one. For use in `exclusively`."""
        if not tail.size:
            return
        # Signed first: a start never has to look for the end of the signed records in an older file.
        self._sign(tail)
        self._doubtful = True
        self._disk.rename(ACTIVE, sealed_name(tail.first))
        tail.begin(self._disk.open(ACTIVE, create=True))
        self._floor = self._mirrored = self._kept = 0
        self._disk.sync()
        self._doubtful = False

    def close(self) -> None:
        """Give the files back. What was not synced or signed stays so."""
        if self._tail is not None and not self._doubtful:
            with contextlib.suppress(OSError):  # whoever comes next makes them from the records
                self._tail.store_hashes()
        self._forget()
        if self._mirror is not None:
            self._mirror.close()
        self._place.lock.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._place.lock.acquire()
        try:
            with mapped_errors():
                yield
        finally:
            self._place.lock.release()

    def _current(self) -> Tail:
        """The end of the log as it is now: ours, or what another process made of it meanwhile."""
        tail = self._tail
        found = self._disk.look(ACTIVE)
        if tail is None or self._doubtful or not tail.matches(found):
            tail = self._find_end(tail, found)
        if self._aside:
            self._append(tail, [render_body(event) for event in self._aside])
            self._aside.clear()
        return tail

    def _find_end(self, tail: Tail | None, found: Look | None) -> Tail:
        if self._disk.look(".") is None:
            raise LogFault("folder_missing")
        self._aside.clear()
        if tail is None or self._doubtful or not self._follow(tail, found):
            self._forget()
            tail = self._tail = load_tail(self._disk, self._key.public, self._read_anchor(), self._set_aside)
            self._doubtful = False
        self._floor = self._mirrored = tail.size
        self._kept = 0
        self.unsigned = tail.records - tail.signed
        return tail

    def _follow(self, tail: Tail, found: Look | None) -> bool:
        """Go on from what we know, where that can be."""
        if found is not None or not self._was_deleted(tail):
            return catch_up(self._disk, tail, found, self._set_aside)
        digest = restore(self._disk, tail)
        self._aside.append(
            Recovery(timestamp=self._place.stamp(), reason="restored", size=tail.size, digest=digest, kept_as=ACTIVE)
        )
        return True

    def _was_deleted(self, tail: Tail) -> bool:
        """Whether the newest file is gone, and nobody has gone on without it."""
        if was_rotated(self._disk, tail):
            return False
        anchor = self._read_anchor()
        return anchor is None or read_checkpoint(anchor, self._key.public).size <= tail.records

    def _read_anchor(self) -> bytes | None:
        try:
            file = self._place.anchors.open(self._place.anchor_name)
        except FileNotFoundError:
            return None
        try:
            return file.read(0, BLOCK)
        finally:
            file.close()

    def _append(self, tail: Tail, bodies: Sequence[bytes]) -> None:
        before = tail.size
        self._write(tail, bodies)
        try:
            self._sync(tail)
        except OSError:
            # After a failed sync the system may hold the pages for clean: the records go, and their callers are told.
            self._doubtful = True
            self._cut(tail, before)
            raise

    def _write(self, tail: Tail, bodies: Sequence[bytes]) -> None:
        sealed = seal_batch(bodies, first=tail.records, head=tail.head)
        if len(tail.fresh) >= MAX_FRESH:
            tail.store_hashes()
        try:
            tail.file.write(tail.size, sealed.lines)
        except OSError:
            self._doubtful = True
            tail.file.truncate(tail.size)
            raise
        if self._mirror is not None:
            self._write_mirror(self._mirror, tail.size, sealed)
        self.unsynced = True
        self.unsigned += len(bodies)
        tail.grow(sealed)

    def _write_mirror(self, mirror: Mirror, offset: int, sealed: Sealed) -> None:
        """Without it, or without room in it, the log itself is synced."""
        mirrored = False
        with contextlib.suppress(OSError):
            mirrored = mirror.stage(sealed.lines, sealed.leaves[-1])
        if not mirrored:
            self._mirrored = offset + len(sealed.lines)

    def _sync_mirror(self, written: int) -> bool:
        """Whether the log up to there is durable now, in the mirror or in itself; if not, it has to be synced itself."""
        if self._mirror is None or self._mirrored > self._kept:
            return False
        try:
            self._mirror.sync()
        except OSError:
            # The file is synced next, with whatever another thread wrote to it up to now and could not mirror.
            self._mirrored = written
            return False
        return True

    def _sync_file(self, tail: Tail, written: int) -> None:
        rewrites, mirror = self._suspect, self._mirror
        needed = 0 if mirror is None else mirror.written
        if rewrites and written > self._kept:
            tail.file.write(self._kept, tail.file.read(self._kept, written - self._kept))
        try:
            tail.file.sync()
        except OSError:
            self._suspect = True
            raise
        if rewrites:
            self._suspect = False
        self._kept = max(self._kept, written)
        if mirror is not None:
            mirror.needed = max(mirror.needed, needed)

    def _sync(self, tail: Tail) -> None:
        self._sync_file(tail, tail.size)
        self._floor = tail.size
        self.unsynced = False

    def _maybe_rotate(self) -> None:
        if self._tail is not None and self._tail.size >= self._place.rotate_bytes:
            # The records are kept whether or not there is room for a new file: that fails in a commit of its own.
            with contextlib.suppress(OSError):
                self.rotate(self._tail)

    def _sign(self, tail: Tail) -> Checkpoint | None:
        if tail.records == tail.signed:
            return None
        self._sync(tail)
        tail.store_hashes()
        keep_hashes(self._disk, tail)
        tail.hashes.sync()
        checkpoint = self._key.sign(size=tail.tree.size, root=tail.tree.root())
        write_note(self._disk, checkpoint.note)
        write_whole(self._place.anchors, self._place.anchor_name, checkpoint.note)
        tail.signed = checkpoint.size
        self.unsigned = 0
        return checkpoint

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

    def _forget(self) -> None:
        if self._tail is not None:
            self._tail.close()
        self._tail = None
        self._aside.clear()
