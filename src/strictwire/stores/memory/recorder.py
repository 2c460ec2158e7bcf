"""The audit trail in memory, the twin of `stores.files.trail`, and the recorder that keeps nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.event import Brief, Event, Values
from strictwire.audit.recorder import Done
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure
from strictwire.stores.event_adapter import EventAdapter


class MemoryRecorder(EventAdapter):
    """A Recorder that keeps everything in lists. Set `failure` to have every commit refused with it."""

    keeps = keeps_values = True

    def __init__(self, values: Values = Values.DIGESTED) -> None:
        self.values = values
        self._head = GENESIS
        self._events: list[Event] = []
        self.lines: list[bytes] = []
        """What the log file would hold, without line breaks."""
        self.malformed: Counter[str] = Counter()
        self.failure: Failure | None = None

    @property
    def records(self) -> list[JsonObject]:
        """The lines, parsed."""
        return [parse_object(line) for line in self.lines]

    @property
    def events(self) -> list[Event]:
        """Transition, delete with `stores.event_adapter`: the events that were kept."""
        return [event.as_event() if isinstance(event, Brief) else event for event in self._events]

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        """See Recorder. `done` is called at once."""
        if self.failure is None:
            sealed = seal_batch(bodies, first=len(self.lines), head=self._head)
            self._head = sealed.leaves[-1]
            self.lines += sealed.lines.split(b"\n")[:-1]
        done(self.failure)

    async def record(self, event: Event) -> Any:
        """Transition: see audit.recorder."""
        self._events += [event] if self.failure is None else []
        return await super().record(event)

    def submit(self, event: Event, done: Done) -> None:
        """Transition: see audit.recorder."""
        self._events += [event] if self.failure is None else []
        super().submit(event, done)

    def count_malformed(self, kind: str) -> None:
        """Count by kind."""
        self.malformed[kind] += 1

    async def close(self) -> None:
        """Nothing to release."""


class NoRecorder(EventAdapter):
    """For `audit.mode = off`: keeps nothing, and every commit succeeds."""

    keeps = keeps_values = False

    def append(self, _bodies: Sequence[bytes], done: Done) -> None:
        """See Recorder."""
        done(None)

    def count_malformed(self, kind: str) -> None:
        """Ignore it."""

    async def close(self) -> None:
        """Nothing to release."""
