"""Syncs and signs a log when it is due, without any call waiting for it. Runs on the writer thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from strictwire.stores.fault import LogFault
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import Clock, Schedule


class Maintenance:
    """The timers of one log. They start when `seconds_left` finds unsynced or unsigned records."""

    def __init__(self, writer: TrailWriter, busy: threading.Lock, schedule: Schedule, clock: Clock) -> None:
        """`busy` is held by the thread that uses the writer."""
        self._writer = writer
        self._busy = busy
        self._schedule = schedule
        self._clock = clock
        self._sync_at: float | None = None
        self._sign_at: float | None = None
        self._sign_failed = False
        self.trouble: LogFault | None = None
        """Why the last commit, sync or checkpoint failed; None if it succeeded."""

    def seconds_left(self) -> float | None:
        """Seconds until something is due; None if nothing waits."""
        now = self._clock.monotonic()
        if self._sync_at is None and not self._writer.is_synced:
            self._sync_at = now + self._schedule.sync_seconds
        if self._sign_at is None and self._writer.unsigned:
            self._sign_at = now + self._schedule.checkpoint_seconds
        coming = [at for at in (self._sync_at, self._sign_at) if at is not None]
        return max(0.0, min(coming) - now) if coming else None

    def run(self) -> None:
        """Do what is due. A failure is retried after the usual interval."""
        now = self._clock.monotonic()
        if self._sync_at is not None and now >= self._sync_at:
            self._sync_at = None
            self._sync()
        is_late = self._sign_at is not None and now >= self._sign_at
        is_long = self._writer.unsigned >= self._schedule.checkpoint_records and not self._sign_failed
        if is_late or is_long:
            self._sign_at = None
            self.sign()

    def sign(self) -> None:
        """Sign a checkpoint now. The bulk is synced first, while the event loop can still append."""
        self._sync()
        self._sign_failed = self.attempt(self._writer.sign) is not None

    def attempt(self, work: Callable[[], object]) -> LogFault | None:
        """Use the writer, and note how it went."""
        try:
            with self._busy:
                work()
        except LogFault as fault:
            self.trouble = fault
        else:
            self.trouble = None
        return self.trouble

    def _sync(self) -> None:
        if self._writer.is_synced:
            return
        try:
            self._writer.sync()
        except LogFault as fault:
            self.trouble = fault
