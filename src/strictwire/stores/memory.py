"""The audit trail in memory: the twin of the trail on disk for tests and trials, and the recorder that records nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.recorder import Done
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure


class MemoryRecorder:
    """A Recorder that keeps everything in lists. Set `failure` to have every record refused with it."""

    keeps = True

    def __init__(self, *, keeps_values: bool = True) -> None:
        self.keeps_values = keeps_values
        self._head = GENESIS
        self.bodies: list[bytes] = []
        self.lines: list[bytes] = []
        """What the file would hold, without line breaks."""
        self.malformed: Counter[str] = Counter()
        self.failure: Failure | None = None

    @property
    def records(self) -> list[JsonObject]:
        """What was recorded, without its place in the chain."""
        return [parse_object(body) for body in self.bodies]

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        """Keep records, or give the failure that was set."""
        if self.failure is None:
            sealed = seal_batch(bodies, first=len(self.lines), head=self._head)
            self._head = sealed.leaves[-1]
            self.bodies += bodies
            self.lines += sealed.lines.splitlines()
        done(self.failure)

    def count_malformed(self, kind: str) -> None:
        """Count by kind."""
        self.malformed[kind] += 1

    async def close(self) -> None:
        """Nothing is held."""


class NoRecorder:
    """For `audit.mode = off`: keeps nothing and reports success, as the mode says."""

    keeps = keeps_values = False

    def append(self, bodies: Sequence[bytes], done: Done) -> None:  # noqa: ARG002 - nothing is kept
        """Keep nothing."""
        done(None)

    def count_malformed(self, kind: str) -> None:
        """Count nothing."""

    async def close(self) -> None:
        """Nothing is held."""
