"""The audit trail on disk as the pipeline sees it: group commit.

Records of calls that came together share one write, which the event loop does itself, for it goes to the memory of the
system; what would have to wait for anything is left to a thread. The thread also syncs, unless the disk is so quick that
waking it would take longer: records that are written while a sync is under way share the next one. A caller that has gone
away in the meantime is not waited for.

    sync       the answer leaves after the record is on disk: a power cut loses no answered call
    batched    the answer leaves after the record is written: a crash of the process loses nothing, a power cut may lose
               the last `sync_seconds`
    off        `stores.memory.recorder.NoRecorder`: nothing is recorded

Below: `stores.files.writer`. Above: the composition root, which owns the lifetime: `open_trail`, then `close`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from strictwire.audit.event import Event, Values, render_body, write_digested
from strictwire.audit.recorder import Done
from strictwire.fault.failure import Failure
from strictwire.pipeline.soon import soon_of
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.maintenance import Desk, Upkeep
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock, Mode, Schedule

MAX_TRIES: Final = 8
"""Turns of the event loop for which a commit waits for the lock of another process by itself."""

GATHER_SECONDS: Final = 0.002
"""How long records wait for more, while turns of the event loop bring them."""

ENOUGH: Final = 128
"""Records that wait for no more: so many share the cost of a commit that it hardly counts."""

MAX_WAITING: Final = 100_000
"""Records that may wait for a commit. More calls than this are never in flight; beyond it the disk has stopped."""


async def open_trail(trail: TrailConfig, clock: Clock = SYSTEM_CLOCK) -> FileTrail:
    """A recorder whose log has been opened and, if need be, repaired. Close it. Raises LogFault."""
    loop = asyncio.get_running_loop()
    log = await loop.run_in_executor(None, partial(_open_checked, trail, clock))
    return FileTrail(log, mode=trail.mode, values=trail.values, schedule=trail.schedule, clock=clock, mirrors=True)


def _open_checked(trail: TrailConfig, clock: Clock) -> TrailWriter:
    log = open_writer(trail, clock)
    try:
        log.open()
    except LogFault:
        log.close()
        raise
    return log


class FileTrail:
    """A Recorder (`audit.recorder`) over one log. Made and used on one event loop."""

    keeps = True

    def __init__(
        self,
        log: TrailWriter,
        *,
        mode: Mode,
        values: Values,
        schedule: Schedule,
        clock: Clock = SYSTEM_CLOCK,
        mirrors: bool = False,
    ) -> None:
        """With `mirrors`, what is synced is synced in a mirror of the log once there is one."""
        self._log = log
        self._syncs = mode is Mode.SYNC
        self._render = write_digested if values is Values.DIGESTED else partial(render_body, values=values)
        self.keeps_values = values is Values.STORED
        self._schedule = schedule
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._soon = soon_of(self._loop)
        self._soon.is_dear = self._syncs
        self._busy = threading.Lock()
        """Held by whichever thread uses the log."""
        self._ready = threading.Condition()
        self._waiting: list[tuple[bytes, Done]] = []
        """For the next commit of the writer's thread."""
        self._gathered: list[bytes] = []
        """For a commit as soon as everything that came with them was begun."""
        self._gathered_dones: list[Done] = []
        """Whom to tell of each of them."""
        self._written: list[Done] = []
        """Those whose records the event loop has written and the thread has yet to sync."""
        self._since, self._seen = 0.0, 0
        """Since when they have been waiting for more, and how many they were in the last turn; 0 if they have not."""
        self._tries = 0
        self._syncing = False
        """Whether the thread syncs what the event loop wrote; then the loop does not."""
        self._quick = False
        """Whether the last sync was so quick that the event loop may as well wait for the next one itself."""
        self._closing = False
        self._ended = self._loop.create_future()
        append = log.append if mode is Mode.SYNC else log.append_unsynced
        desk = Desk(log=log, append=append, busy=self._busy, ready=self._ready, schedule=schedule, clock=clock)
        self._upkeep = Upkeep(desk, lacks_mirror=mirrors and mode is Mode.SYNC)
        self._thread = threading.Thread(target=self._run, name="strictwire-audit", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> Failure | None:
        """What the last commit, sync or checkpoint failed with; None when it went well. For health checks."""
        trouble = self._upkeep.trouble
        return None if trouble is None else trouble.as_failure()

    async def record(self, event: Event) -> Failure | None:
        """Keep one record. Returns when it is as durable as the mode promises, or a Failure when it is not kept."""
        kept: asyncio.Future[Failure | None] = self._loop.create_future()
        self.submit(event, partial(_resolve, kept))
        return await kept

    def submit(self, event: Event, done: Done) -> None:
        """The same without a coroutine: `done` is called on the event loop, never before this returns."""
        if not self._gathered:
            self._soon.call(self._commit_gathered)
        self._gathered.append(self._render(event))
        self._gathered_dones.append(done)

    def _enqueue(self, bodies: list[bytes], dones: list[Done]) -> None:
        """Leave records to the thread, as many as there is room for."""
        batch = list(zip(bodies, dones, strict=True))
        with self._ready:
            room = 0 if self._closing else max(0, MAX_WAITING - len(self._waiting) - len(self._written))
            kept, left = batch[:room], batch[room:]
            self._waiting += kept
            if kept and len(self._waiting) == len(kept):
                self._ready.notify()
        if left:
            fault = LogFault("closed" if self._closing else "backlog")
            self._loop.call_soon(self._deliver, [done for _, done in left], fault.as_failure())

    def _take_gathered(self) -> tuple[list[bytes], list[Done]]:
        gathered, dones = self._gathered, self._gathered_dones
        self._gathered, self._gathered_dones = [], []
        return gathered, dones

    def _commit_gathered(self) -> None:
        """On the event loop: write what was gathered, or leave it to the thread."""
        if self._awaits_more():
            self._loop.call_soon(self._commit_gathered)
            return
        bodies, dones = self._take_gathered()
        if not bodies:
            return
        crowded = len(self._written) + len(self._waiting) + len(bodies) > MAX_WAITING
        if crowded or self._closing or not self._busy.acquire(blocking=False):
            self._enqueue(bodies, dones)
            return
        try:
            if self._waiting:  # the thread was busy before and is not any more: it would be woken for these alone
                with self._ready:
                    waiting, self._waiting = self._waiting, []
                bodies = [*(body for body, _ in waiting), *bodies]
                dones = [*(done for _, done in waiting), *dones]
            told = self._write(bodies, dones)
        finally:
            self._busy.release()
        if told is not None:
            self._deliver(*told)
        if self._log.is_untidy:
            self._loop.call_soon(self._tidy)

    def _tidy(self) -> None:
        """On the event loop, after the answers have left: what nobody waits for."""
        if self._busy.acquire(blocking=False):
            try:
                with suppress(LogFault):  # a commit that comes to it will tell
                    self._log.tidy()
            finally:
                self._busy.release()

    def _awaits_more(self) -> bool:
        """Calls are coming at once: a commit that waits while turns of the event loop bring more costs each of them less.

        Not if a transport has just handed on all that came: then nobody else is near.
        Not if the thread is to sync: it can begin with what there is, and takes the rest after that.
        """
        if self._soon.depth or self._soon.is_quiet:
            self._seen = 0
            return False
        count, now, threaded = len(self._gathered), self._clock.monotonic(), self._syncs and not self._quick
        late = self._seen > 0 and now - self._since >= GATHER_SECONDS
        if threaded or late or count == self._seen or count >= ENOUGH:
            self._seen = 0
            return False
        if not self._seen:
            self._since = now
        self._seen = count
        return True

    def _write(self, bodies: list[bytes], dones: list[Done]) -> tuple[list[Done], Failure | None] | None:
        """Write a batch, and sync it if that is quick: whom to tell what, now. None: somebody else tells them.

        All of it while `_busy` is held: whoever takes back what could not be synced has to find everything that was written.
        """
        try:
            if not self._log.try_append_unsynced(bodies):
                self._try_again(bodies, dones)
                return None
        except LogFault as fault:
            self._upkeep.trouble = fault
            return dones, fault.as_failure()
        self._tries, self._upkeep.trouble = 0, None
        if not self._syncs:
            self._upkeep.note_unsynced()
            return dones, None
        if self._leave_to_thread(dones):
            return None
        return self._sync_here(dones)

    def _sync_here(self, dones: list[Done]) -> tuple[list[Done], Failure | None]:
        """Sync on the event loop, with `_busy` held: whom to tell what."""
        failed = self._sync_written()
        return (dones, None) if failed is None else ([*dones, *self._take_back()], failed.as_failure())

    def _leave_to_thread(self, dones: list[Done]) -> bool:
        """Whether the thread syncs what was just written: not if the last sync was quicker than waking the thread is."""
        with self._ready:
            wakes = self._upkeep.note_unsigned()
            # Never two syncs at once: the system tells an error to one of them alone.
            leaves = not self._quick or self._syncing or bool(self._written)
            if leaves:
                self._written += dones
            if wakes or leaves:
                self._ready.notify()
        return leaves

    def _try_again(self, bodies: list[bytes], dones: list[Done]) -> None:
        """Another process holds the lock, most likely for a moment: look again in the next turns before the thread waits."""
        self._tries += 1
        if self._tries > MAX_TRIES:
            self._tries = 0
            self._enqueue(bodies, dones)
            return
        self._gathered = [*bodies, *self._gathered]
        self._gathered_dones = dones + self._gathered_dones
        self._loop.call_soon(self._commit_gathered)

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call. One Flood record an interval holds the counts."""
        self._upkeep.count_malformed(kind)

    def wake(self) -> None:
        """Look at the schedule now. For those who move the clock."""
        with self._ready:
            self._ready.notify()

    async def close(self) -> None:
        """Write what waits, sign a last checkpoint and give the files back. Later records are refused."""
        bodies, dones = self._take_gathered()
        if bodies:
            self._enqueue(bodies, dones)
        with self._ready:
            self._closing = True
            self._ready.notify()
        await asyncio.shield(self._ended)
        self._thread.join()
        self._soon.is_dear = False

    def _run(self) -> None:
        """The writer's thread. Whatever ends it, nobody is left waiting."""
        batch: list[tuple[bytes, Done]] = []
        written: list[Done] = []
        try:
            while not self._closing or self._waiting or self._written:
                batch, written = self._take()
                if written:
                    self._sync_for(written)
                    written = []
                if batch:
                    self._commit(batch)
                    batch = []
                self._upkeep.keep()
            self._upkeep.end()
        finally:
            with self._ready:
                self._closing = True
                left, self._waiting = batch + self._waiting, []
                unsynced, self._written = written + self._written, []
            self._tell([*(done for _, done in left), *unsynced], LogFault("closed"))
            self._call_loop(partial(_resolve, self._ended, None))

    def _take(self) -> tuple[list[tuple[bytes, Done]], list[Done]]:
        """What waits to be written, and what to be synced; if nothing does, wait for it or for the schedule."""
        with self._ready:
            if not self._waiting and not self._written and not self._closing:
                self._ready.wait(self._upkeep.seconds_left())
            batch, self._waiting = self._waiting, []
            written, self._written = self._written, []
            self._syncing = bool(written)
        return batch, written

    def _sync_for(self, written: list[Done]) -> None:
        """On the thread: sync what the event loop wrote, while it writes more."""
        fault = self._sync_written()
        if fault is not None:
            with self._busy:
                written = [*written, *self._take_back()]
        with self._ready:
            self._syncing = False
        self._tell(written, fault)

    def _sync_written(self) -> LogFault | None:
        started = self._clock.monotonic()
        try:
            self._log.sync_written()
        except LogFault as fault:
            self._upkeep.trouble = fault
            return fault
        self._quick = self._clock.monotonic() - started < self._schedule.quick_seconds
        return None

    def _take_back(self) -> list[Done]:
        """After a sync that failed, with `_busy` held: nothing unsynced is left behind. Who else has to be told so."""
        with suppress(LogFault):
            self._log.take_back()
        with self._ready:
            more, self._written = self._written, []
        return more

    def _commit(self, batch: list[tuple[bytes, Done]]) -> None:
        fault = self._upkeep.append([body for body, _ in batch])
        self._tell([done for _, done in batch], fault)

    def _tell(self, dones: list[Done], fault: LogFault | None) -> None:
        if dones:
            failure = None if fault is None else fault.as_failure()
            self._call_loop(partial(self._deliver, dones, failure))

    def _deliver(self, dones: list[Done], failure: Failure | None) -> None:
        """On the event loop. A callback that raises does not keep the others from theirs."""
        if len(dones) == 1 and self._soon.depth:
            dones[0](failure)
            return
        left = iter(dones)
        try:
            with self._soon:
                for done in left:
                    done(failure)
        finally:
            untold = list(left)
            if untold:
                self._loop.call_soon(self._deliver, untold, failure)

    def _call_loop(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            # The loop was closed: whoever waited on it is gone.
            return


def _resolve(future: asyncio.Future[Failure | None], failure: Failure | None) -> None:
    if not future.done():
        future.set_result(failure)
