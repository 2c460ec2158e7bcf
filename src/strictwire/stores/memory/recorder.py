"""The audit trail in memory, the twin of `stores.files.trail`, and the recorder that keeps nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.event import Brief, Event, Values, render_body
from strictwire.audit.recorder import Done
from strictwire.fault.failure import Failure
from strictwire.pipeline.soon import soon_of


class MemoryRecorder:
    """A Recorder that keeps everything in lists. Set `failure` to have every record refused with it."""

    keeps = keeps_values = True

    def __init__(self, values: Values = Values.DIGESTED) -> None:
        self._values = values
        self._head = GENESIS
        self._events: list[Event] = []
        self.lines: list[bytes] = []
        """What the file would hold, without line breaks."""
        self.malformed: Counter[str] = Counter()
        self.failure: Failure | None = None

    @property
    def events(self) -> list[Event]:
        """What was recorded, in full."""
        return [event.as_event() if isinstance(event, Brief) else event for event in self._events]

    async def record(self, event: Event) -> Failure | None:
        """Keep one record, or give the failure that was set."""
        return self._keep(event)

    def submit(self, event: Event, done: Done) -> None:
        """The same; `done` is called on the event loop."""
        soon_of(asyncio.get_running_loop()).call(partial(done, self._keep(event)))

    def count_malformed(self, kind: str) -> None:
        """Count by kind."""
        self.malformed[kind] += 1

    async def close(self) -> None:
        """Nothing is held."""

    def _keep(self, event: Event) -> Failure | None:
        if self.failure is None:
            sealed = seal_batch([render_body(event, self._values)], first=len(self.lines), head=self._head)
            self._head = sealed.leaves[-1]
            self._events.append(event)
            self.lines.append(sealed.lines[:-1])
        return self.failure


class NoRecorder:
    """For `audit.mode = off`: keeps nothing and says it went well, as whoever set the mode asked for."""

    keeps = keeps_values = False

    async def record(self, _event: Event) -> Failure | None:
        """Nothing."""
        return None

    def submit(self, _event: Event, done: Done) -> None:
        """Nothing; `done` is called on the event loop."""
        soon_of(asyncio.get_running_loop()).call(partial(done, None))

    def count_malformed(self, kind: str) -> None:
        """Nothing."""

    async def close(self) -> None:
        """Nothing is held."""
