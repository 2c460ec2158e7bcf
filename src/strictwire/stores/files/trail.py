"""The audit trail on disk as the pipeline sees it: `FileTrail` implements `audit.recorder.Recorder` with group commit.

    sync       the answer leaves after the record is on disk: a power cut loses no answered call
    batched    the answer leaves after the record is written: a crash of the process loses nothing, a power cut may lose
               the last `sync_seconds`
    off        `stores.memory.recorder.NoRecorder`: nothing is recorded

In mode `batched` the event loop writes by itself, because a write only copies to the page cache. Anything that may block (a
sync, the lock of another process, a new file, a repair) runs on one thread. Commits that arrive while the thread is busy
share its next write and its next sync.

Below: `stores.files.writer`. Above: the composition root, which owns the lifetime: `open_trail`, then `close`.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final

from strictwire.audit.recorder import Done
from strictwire.fault.failure import Failure
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.maintenance import Maintenance
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.floods import FloodCounter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock, Mode

MAX_QUEUED_BYTES: Final = 64 << 20
"""Records that may wait for the thread: about 100,000. Far more than calls in flight, so beyond it the disk has stopped."""


@dataclass(frozen=True, slots=True)
class _Commit:
    bodies: Sequence[bytes]
    done: Done
    size: int


async def open_trail(config: TrailConfig, clock: Clock = SYSTEM_CLOCK) -> FileTrail:
    """Open a trail and repair what a crash left. Close it afterwards. Raises LogFault."""
    writer = await asyncio.get_running_loop().run_in_executor(None, partial(_open_checked, config, clock))
    return FileTrail(writer, config, clock)


def _open_checked(config: TrailConfig, clock: Clock) -> TrailWriter:
    writer = open_writer(config, clock)
    try:
        writer.open()
    except LogFault:
        writer.close()
        raise
    return writer


class FileTrail:
    """A Recorder over one writer. Made, used and closed on one event loop."""

    keeps = True

    def __init__(self, writer: TrailWriter, config: TrailConfig, clock: Clock = SYSTEM_CLOCK) -> None:
        self.keeps_values = config.keeps_values
        self._writer = writer
        self._is_batched = config.mode is Mode.BATCHED
        self._loop = asyncio.get_running_loop()
        self._busy = threading.Lock()
        """Held by the thread that uses the writer."""
        self._queue: SimpleQueue[_Commit | None] = SimpleQueue()
        """Commits for the thread; None only wakes it."""
        self._queued_bytes = 0
        """Bytes of queued commits whose `done` was not called yet. Used on the event loop only."""
        self._taken: list[_Commit] = []
        """The commits that the thread works on."""
        self._is_idle = False
        """Whether the thread waits without a timeout, so that a write must wake it."""
        self._closing = False
        self._ended = self._loop.create_future()
        self._floods = FloodCounter(self.append, interval=config.schedule.flood_seconds, stamp=clock.stamp)
        self._maintenance = Maintenance(writer, self._busy, config.schedule, clock)
        self._thread = threading.Thread(target=self._run, name="strictwire-audit", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> Failure | None:
        """Why the last commit, sync or checkpoint failed; None if it succeeded. For health checks."""
        trouble = self._maintenance.trouble
        return None if trouble is None else trouble.as_failure()

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        """See Recorder."""
        try:
            is_written = self._try_write(bodies)
        except LogFault as fault:
            done(fault.as_failure())
            return
        if is_written:
            done(None)
        else:
            self._enqueue(bodies, done)

    def count_malformed(self, kind: str) -> None:
        """See Recorder."""
        self._floods.count(kind)

    async def close(self) -> None:
        """See Recorder. Signs a last checkpoint."""
        self._floods.flush()
        self._closing = True
        self._wake()
        await asyncio.shield(self._ended)
        self._thread.join()

    def _try_write(self, bodies: Sequence[bytes]) -> bool:
        """Mode `batched`: write on the event loop if nothing must be waited for. Raises LogFault: not kept."""
        # Not while commits are queued: `done` is called in the order of the commits.
        if not self._is_batched or self._queued_bytes or self._closing or not self._busy.acquire(blocking=False):
            return False
        try:
            is_written = self._writer.try_append_unsynced(bodies)
        except LogFault as fault:
            self._maintenance.trouble = fault
            raise
        finally:
            self._busy.release()
        if is_written:
            self._maintenance.trouble = None
            if self._is_idle:
                self._wake()
        return is_written

    def _wake(self) -> None:
        self._is_idle = False
        self._queue.put(None)

    def _enqueue(self, bodies: Sequence[bytes], done: Done) -> None:
        size = sum(map(len, bodies))
        is_full = self._queued_bytes > 0 and self._queued_bytes + size > MAX_QUEUED_BYTES
        if self._closing or is_full:
            done(LogFault("closed" if self._closing else "backlog").as_failure())
            return
        self._queued_bytes += size
        self._queue.put(_Commit(bodies, done, size))

    def _deliver(self, commits: deque[_Commit], failure: Failure | None) -> None:
        """On the event loop. A callback that raises does not keep the others from being called."""
        try:
            while commits:
                commit = commits.popleft()
                self._queued_bytes -= commit.size
                commit.done(failure)
        finally:
            if commits:
                self._loop.call_soon(self._deliver, commits, failure)

    def _end(self) -> None:
        """On the event loop, after the thread has ended: no caller is left waiting, even if a bug ended it."""
        self._closing = True
        left = deque(self._taken)
        while not self._queue.empty():
            commit = self._queue.get()
            if commit is not None:
                left.append(commit)
        if not self._ended.done():
            self._ended.set_result(None)
        self._deliver(left, LogFault("closed").as_failure())

    def _run(self) -> None:
        """The writer thread."""
        try:
            while not self._closing or not self._queue.empty():
                self._take()
                if self._taken:
                    self._commit()
                self._maintenance.run()
            self._maintenance.sign()
            self._writer.close()
        finally:
            self._call_loop(self._end)

    def _take(self) -> None:
        """Wait for commits, or until maintenance is due."""
        # Set before the timers are read: a write that they do not include finds it set and wakes the thread.
        self._is_idle = True
        timeout = self._maintenance.seconds_left()
        if timeout is not None:
            self._is_idle = False
        items: list[_Commit | None] = []
        with suppress(Empty):
            items.append(self._queue.get(timeout=timeout))
            while True:
                items.append(self._queue.get_nowait())
        self._taken = [commit for commit in items if commit is not None]

    def _commit(self) -> None:
        """Write the taken commits as one, and schedule their `done` on the event loop."""
        append = self._writer.append_unsynced if self._is_batched else self._writer.append
        bodies = [body for commit in self._taken for body in commit.bodies]
        fault = self._maintenance.attempt(partial(append, bodies))
        commits, self._taken = deque(self._taken), []
        self._call_loop(partial(self._deliver, commits, None if fault is None else fault.as_failure()))

    def _call_loop(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            # The event loop is closed, so no caller waits any more.
            return
