"""What is done about a log while no call waits for it: syncs on an interval, checkpoints, counts of floods, a mirror.

All of it on the writer's thread (`stores.files.trail`), when it is due; the event loop only notes that something will be.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from strictwire.audit.event import render_body
from strictwire.audit.flood import FloodGauge
from strictwire.stores.fault import LogFault
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import Clock, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the writer's thread and the event loop share."""

    log: TrailWriter
    append: Callable[[Sequence[bytes]], None]
    """Of the log, as durable as the mode promises."""
    busy: threading.Lock
    """Held by whichever thread uses the log."""
    ready: threading.Condition
    """Held for whatever both change; the thread waits for it."""
    schedule: Schedule
    clock: Clock


class Upkeep:
    """What is due, and when."""

    def __init__(self, desk: Desk, *, lacks_mirror: bool) -> None:
        self._desk = desk
        self._log, self._schedule, self._clock = desk.log, desk.schedule, desk.clock
        self._lacks_mirror = lacks_mirror
        self._flood = FloodGauge()
        self._sync_due: float | None = None
        self._sign_due: float | None = None
        self.trouble: LogFault | None = None
        """What the last commit, sync or checkpoint failed with."""

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call. One Flood record an interval holds the counts."""
        with self._desk.ready:
            if self._flood.is_empty:
                self._flood.open(timestamp=self._clock.stamp(), now=self._clock.monotonic())
                self._desk.ready.notify()
            self._flood.count(kind)

    def note_unsynced(self) -> None:
        """Records were written: they will have to be synced and signed for."""
        if self._sync_due is None:
            with self._desk.ready:
                self._set_dues(self._clock.monotonic())
                self._desk.ready.notify()

    def note_unsigned(self) -> bool:
        """Records were written that are synced at once: whether the thread has to be woken. With `ready` held."""
        wakes = self._sign_due is None or self._log.unsigned >= self._schedule.checkpoint_records or self._log.is_behind
        self._sign_due = self._sign_due or self._clock.monotonic() + self._schedule.checkpoint_seconds
        return wakes

    def append(self, bodies: Sequence[bytes]) -> LogFault | None:
        """On the thread: write records. None: they are as durable as the mode promises."""
        now = self._clock.monotonic()
        fault = self._attempt(partial(self._desk.append, bodies))
        if fault is None:
            self._set_dues(now)
        return fault

    def seconds_left(self) -> float | None:
        """How long nothing is due; None: until something is noted."""
        dues = (self._flood.due(self._schedule.flood_seconds), self._sync_due, self._sign_due)
        coming = [due for due in dues if due is not None]
        return max(0.0, min(coming) - self._clock.monotonic()) if coming else None

    def keep(self) -> None:
        """On the thread: do what is due."""
        if self._lacks_mirror:
            self._lacks_mirror = False
            self._add_mirror()
        if self._log.is_behind:
            self._catch_up_log()
        now = self._clock.monotonic()
        flood_due = self._flood.due(self._schedule.flood_seconds)
        if flood_due is not None and now >= flood_due:
            self._record_flood()
        if self._sync_due is not None and now >= self._sync_due:
            self._sync_due = None
            if self._attempt(self._log.sync) is not None:
                self._sync_due = now + self._schedule.sync_seconds
        many = self._log.unsigned >= self._schedule.checkpoint_records
        if self._sign_due is not None and (many or now >= self._sign_due):
            self._sign_due = None
            if self._attempt(self._log.sign) is not None:
                self._sign_due = now + self._schedule.checkpoint_seconds

    def end(self) -> None:
        """On the thread: record the last counts, sign a last checkpoint and give the files back."""
        self._record_flood()
        self._attempt(self._log.sign)
        self._log.close()

    def _set_dues(self, now: float) -> None:
        self._sync_due = self._sync_due or now + self._schedule.sync_seconds
        self._sign_due = self._sign_due or now + self._schedule.checkpoint_seconds

    def _attempt(self, work: Callable[[], object]) -> LogFault | None:
        try:
            with self._desk.busy:
                work()
        except LogFault as fault:
            self.trouble = fault
            return fault
        self.trouble = None
        return None

    def _add_mirror(self) -> None:
        """After the first call, so that no start has to wait for a file to be made."""
        with suppress(LogFault), self._desk.busy:  # without it a sync takes longer, and that is all
            mirror = self._log.maybe_open_mirror()
            if mirror is not None:
                self._log.use_mirror(mirror)

    def _catch_up_log(self) -> None:
        """Sync the log itself, where only its mirror is, while the event loop goes on."""
        try:
            self._log.sync_behind()
        except LogFault as fault:
            self.trouble = fault

    def _record_flood(self) -> None:
        ready = self._desk.ready
        with ready:
            flood = self._flood.drain(self._clock.stamp())
        if flood is not None and self._attempt(partial(self._desk.append, [render_body(flood)])) is not None:
            with ready:
                self._flood.put_back(flood, now=self._clock.monotonic())
