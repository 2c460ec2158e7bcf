"""The seam between the pipeline and the audit store.

A call of a read-only tool leaves one record, after it ran. Any other call leaves two: an intent, which must be kept
before the tool runs, and an outcome. An answer leaves only after its record is kept; if it is not, the client gets the
failure instead.

Stores implement `Recorder`: `stores.files.trail`, with `stores.memory.recorder` as its twin. Only types live here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from strictwire.fault.failure import Failure

Done: TypeAlias = Callable[[Failure | None], None]
"""Called once per commit: with None when its records are as durable as the mode promises, else with the reason."""


class Recorder(Protocol):
    """Keeps records. Made, used and closed on one event loop."""

    keeps: bool
    """False if nothing is kept, so that no record need be rendered."""

    keeps_values: bool
    """Whether records should hold arguments and results, not only their digests."""

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        """Commit rendered records (`audit.event.render_body`) together: all of them are kept, or none is.

        `done` is called on the event loop, before this returns or later, in the order of the commits. It must not raise.
        """

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call. One Flood record per interval holds the counts."""

    async def close(self) -> None:
        """Commit what waits and release the store. Later records are refused."""
