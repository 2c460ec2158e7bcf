"""The interface between the pipeline and the audit store.

For a read-only tool: run it, then `record(Call)`. For any other tool: `record(Intent)`, run the tool only if that returned
None, then `record(Outcome)`. A response is sent only after its record returned None; otherwise the caller gets the
Failure instead. `stores.jsonl` implements this interface, and `stores.memory` is its in-memory twin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from strictwire.audit.event import Event
from strictwire.fault.failure import Failure

Done: TypeAlias = Callable[[Failure | None], None]
"""Called once per record: with None when the record is as durable as the store's mode promises, else with a Failure."""


class Recorder(Protocol):
    """Writes records."""

    keeps: bool
    """False if records are discarded, so that callers need not create them."""

    keeps_values: bool
    """Whether to pass arguments and results, and not only their digests."""

    async def record(self, event: Event) -> Failure | None:
        """Write one record. Returns None when it is durable, or an AUDIT_UNAVAILABLE Failure."""

    def submit(self, event: Event, done: Done) -> None:
        """Like `record`, with a callback: `done` is called on the event loop, never before `submit` returns."""

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call. One Flood record per interval contains the counts."""
