"""The writer of a trail: appends batches of records at a cost that does not depend on the length of the log.

One commit is: take the lock, check that the log still ends where we left it, write the lines, sync, release the lock.
Hashes are stored before the next signature; after a crash they are computed from the lines again. A commit that fails is
undone; if it cannot be undone, the end of the log is read again before the next one (`recovery`).

Calls block. Not here: grouping calls into commits, schedules (`stores.files.trail`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from strictwire.audit.chain import seal_batch
from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import render_body
from strictwire.stores.fault import as_fault, mapped_errors
from strictwire.stores.files.anchor import anchor_of
from strictwire.stores.files.disk import FileInfo
from strictwire.stores.files.layout import ACTIVE, BLOCK, older_name, write_note
from strictwire.stores.files.location import TrailLocation
from strictwire.stores.files.recovery import catch_up, load_state, refuse_altered
from strictwire.stores.files.restore import restore_files, restore_hashes, restore_notes, was_deleted
from strictwire.stores.files.state import LogEnd, TrailState
from strictwire.stores.files.trust import follow_notes

MAX_PENDING: Final = 1 << 15
"""Hashes kept in memory, 1 MiB. Reached only if no checkpoint can be signed: one is due after 10,000 records."""


class TrailWriter:
    """One writer of one log. Used by one thread at a time, except for `sync`. Every method can raise LogFault."""

    def __init__(self, location: TrailLocation, key: SigningKey) -> None:
        self._location = location
        self._disk = location.disk
        self._key = key
        self._state: TrailState | None = None

    @property
    def unsigned(self) -> int:
        """Records that no checkpoint covers yet."""
        return 0 if self._state is None else self._state.records - self._state.signed

    @property
    def is_synced(self) -> bool:
        """Whether everything written so far survives a power cut."""
        return self._state is None or self._state.is_synced

    def open(self) -> None:
        """Find the end of the log, repair what a crash left, and refuse a log that was altered. Raises LogFault."""
        with self._locked():
            self._current()
            refuse_altered(self._disk, self._key)

    def append(self, bodies: Sequence[bytes]) -> None:
        """Write and sync records. LogFault: none of them is kept."""
        with self._locked():
            self._append(self._current(), bodies)
            self._maybe_rotate()

    def append_unsynced(self, bodies: Sequence[bytes]) -> None:
        """Write records; a power cut before `sync` may lose them. LogFault: none of them is kept."""
        with self._locked():
            self._append_unsynced(self._current(), bodies)
            self._maybe_rotate()

    def try_append_unsynced(self, bodies: Sequence[bytes]) -> bool:
        """`append_unsynced` if it need not wait, else False. LogFault: none of them is kept.

        False: another process has the lock or wrote a lot, the end of the log must be read again, or a new file is due.
        """
        state, lock = self._state, self._location.lock
        if state is None or state.must_reload or state.recoveries or state.end.size >= self._location.rotate_bytes:
            return False
        try:
            if not lock.try_acquire():
                return False
            try:
                found = self._disk.stat(ACTIVE)
                if not state.matches(found) and not self._catch_up_quickly(state, found):
                    return False
                self._append_unsynced(state, bodies)
            finally:
                lock.release()
        except OSError as exc:
            raise as_fault(exc) from exc
        return True

    def sync(self) -> None:
        """Make everything written so far durable. Another thread may append meanwhile.

        No lock is needed: only the calling thread replaces files, and bytes that were written never change.
        """
        if self._state is not None:
            with mapped_errors():
                _sync(self._state)

    def sign(self) -> Checkpoint | None:
        """Sign a checkpoint of the whole log; None if the last one still covers it."""
        with self._locked():
            return self._sign(self._current())

    @contextmanager
    def exclusively(self) -> Iterator[TrailState]:
        """Hold the lock for a longer change of the folder."""
        with self._locked():
            yield self._current()

    def append_signed(self, state: TrailState, bodies: Sequence[bytes]) -> None:
        """Write, sync and sign records. For use in `exclusively`."""
        self._append(state, bodies)
        self._sign(state)

    def rotate(self, state: TrailState) -> None:
        """Turn the active file into an older one and start a new one. For use in `exclusively`."""
        if not state.end.size:
            return
        # Signed first: a start then never looks for the end of the signed records in an older file.
        self._sign(state)
        state.must_reload = True
        self._disk.rename(ACTIVE, older_name(state.first))
        state.start_file(self._disk.open(ACTIVE, create=True))
        self._disk.sync()
        state.must_reload = False

    def close(self) -> None:
        """Close the files. What was not synced or signed stays so."""
        if self._state is not None:
            self._state.close()
            self._state = None
        self._location.lock.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with mapped_errors():
            self._location.lock.acquire()
            try:
                yield
            finally:
                self._location.lock.release()

    def _current(self) -> TrailState:
        """The end of the log as it is now, also if another process changed it."""
        state, found = self._state, self._disk.stat(ACTIVE)
        if state is not None and state.undo is not None and state.undo[0] == found:
            state.cut_back(state.undo[1])
            found = self._disk.stat(ACTIVE)
        if state is None or state.must_reload or not state.matches(found):
            state = self._find_end(state, found)
        if state.recoveries:
            self._append(state, [render_body(event) for event in state.recoveries])
            state.recoveries.clear()
        return state

    def _find_end(self, known: TrailState | None, found: FileInfo | None) -> TrailState:
        if known is not None and not known.must_reload and self._follow(known, found):
            return known
        state = load_state(self._location, self._key)
        if known is not None:
            if known.file.ident == state.file.ident:
                state.durable_size = min(known.durable_size, state.end.size)
                state.durable_records = min(known.durable_records, state.records)
                state.fsync_failed = known.fsync_failed
            known.close()
        self._state = state
        return state

    def _follow(self, state: TrailState, found: FileInfo | None) -> bool:
        """Continue from a known state; False if the log must be read again."""
        if found is None and was_deleted(self._location, self._key.public, state):
            restore_files(self._location, state)
            return True
        return catch_up(self._location, state, found, self._key)

    def _catch_up_quickly(self, state: TrailState, found: FileInfo | None) -> bool:
        """Take in the few records that another process wrote; False if there is more to do."""
        if found is None or found.size - state.end.size > BLOCK:
            return False
        return catch_up(self._location, state, found, self._key) and not state.recoveries

    def _append(self, state: TrailState, bodies: Sequence[bytes]) -> None:
        before = state.end
        self._write(state, bodies)
        try:
            _sync(state)
            state.write_mark()
        except OSError:
            # Remove the unsynced records: their callers get a failure, which says that they were not kept.
            state.cut_back(before)
            with suppress(OSError):  # so that they do not reappear after a power cut; the disk may fail here too
                state.file.sync()
            raise

    def _append_unsynced(self, state: TrailState, bodies: Sequence[bytes]) -> None:
        before = state.end
        self._write(state, bodies)
        try:
            state.write_mark()
        except OSError:
            state.cut_back(before)
            raise

    def _write(self, state: TrailState, bodies: Sequence[bytes]) -> None:
        if len(state.pending) >= MAX_PENDING:
            state.store_hashes()
        end = state.end
        sealed = seal_batch(bodies, first=end.tree.size, head=end.head, tag_key=self._key.tag_key)
        try:
            state.file.write(end.size, sealed.lines)
        except OSError:
            state.cut_back(end)
            raise
        tree = end.tree.copy()
        state.pending += tree.extend(sealed.leaves)
        state.end = LogEnd(end.size + len(sealed.lines), tree, sealed.leaves[-1])

    def _maybe_rotate(self) -> None:
        if self._state is not None and self._state.end.size >= self._location.rotate_bytes:
            # The records are kept even if there is no room for a new file: the next commit tries again.
            with suppress(OSError):
                self.rotate(self._state)

    def _sign(self, state: TrailState) -> Checkpoint | None:
        restore_notes(self._location, state)
        follow_notes(state, self._key.public)
        if state.records == state.signed:
            return None
        _sync(state)
        state.store_hashes()
        restore_hashes(self._disk, state)
        state.hashes.sync()
        tree = state.end.tree
        checkpoint = self._key.sign(size=tree.size, root=tree.root(), number=state.number + 1, first=state.base)
        write_note(state.notes, checkpoint.note)
        self._location.write_anchor(anchor_of(checkpoint, tree=tree, head=state.end.head, note_end=state.notes.size()))
        state.signed, state.number = checkpoint.size, checkpoint.number
        return checkpoint


def _sync(state: TrailState) -> None:
    size, records = state.end.size, state.records
    if state.fsync_failed:
        for offset in range(state.durable_size, size, BLOCK):
            state.file.write(offset, state.file.read(offset, min(BLOCK, size - offset)))
    try:
        state.file.sync()
    except OSError:
        state.fsync_failed = True
        raise
    state.durable_size, state.durable_records, state.fsync_failed = size, records, False
