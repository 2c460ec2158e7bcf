"""The seam between the pipeline and the audit store: what the pipeline may ask for.

A call of a read-only tool: run it, then `record(Call)`. Any other: `record(Intent)`, run it only if that gave None, then
`record(Outcome)`. An answer leaves only after its record's None; a Failure goes to the caller in its place.
Stores implement this (`stores.files.trail`, and `stores.memory.recorder` as its twin). Only types live here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from strictwire.audit.event import Event
from strictwire.fault.failure import Failure

Done: TypeAlias = Callable[[Failure | None], None]
"""Told once how a record went: None when it is as durable as the store's mode promises."""


class Recorder(Protocol):
    """Keeps records."""

    keeps: bool
    """False where nothing is kept, so that nothing need be prepared."""

    keeps_values: bool
    """Whether arguments and results are wanted, and not only their digests."""

    async def record(self, event: Event) -> Failure | None:
        """Keep one record. Returns when it is kept, or with an AUDIT_UNAVAILABLE Failure when it is not."""

    def submit(self, event: Event, done: Done) -> None:
        """The same without a coroutine: `done` is called on the event loop, never before `submit` returns."""

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call. One Flood record an interval holds the counts."""
