"""The seam between the pipeline and the audit store.

A call of a read-only tool runs, then its record is committed. Any other call first commits an intent, runs, then commits its
outcome. An answer leaves only after its record is committed; if that fails, the failure is the answer.
Stores implement this: `stores.files`, and `stores.memory` as its twin. Only types live here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from strictwire.fault.failure import Failure

Done: TypeAlias = Callable[[Failure | None], None]
"""Called once with how a commit went: None when it is as durable as the store's mode promises."""


class Recorder(Protocol):
    """Commits records."""

    keeps: bool
    """False where nothing is kept, so that no record need be rendered."""

    keeps_values: bool
    """Whether records hold arguments and results, and not only their digests."""

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        """Commit records together; each body is a JSON object. Called on the event loop.

        `done` is called on the event loop too, at once or later, in the order of the commits: with None when all of them
        are durable, with an AUDIT_UNAVAILABLE failure when none of them is kept.
        """

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call. One Flood record for each interval holds the counts."""

    async def close(self) -> None:
        """Commit what waits and free what is held. Later records are refused."""
