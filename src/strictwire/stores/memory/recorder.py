"""The audit trail in memory, the twin of `stores.files.trail`, and the recorder that keeps nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.recorder import Done
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure


class MemoryRecorder:
    """A Recorder that keeps everything in lists. Set `failure` to have every commit refused with it."""

    keeps = True

    def __init__(self, *, keeps_values: bool = True, tag_key: bytes = b"") -> None:
        self.keeps_values = keeps_values
        self._tag_key = tag_key
        self._head = GENESIS
        self.lines: list[bytes] = []
        """What the log file would hold, without line breaks."""
        self.malformed: Counter[str] = Counter()
        self.failure: Failure | None = None

    @property
    def records(self) -> list[JsonObject]:
        """The lines, parsed."""
        return [parse_object(line) for line in self.lines]

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        """See Recorder. `done` is called at once."""
        if self.failure is None:
            sealed = seal_batch(bodies, first=len(self.lines), head=self._head, tag_key=self._tag_key)
            self._head = sealed.leaves[-1]
            self.lines += sealed.lines.split(b"\n")[:-1]
        done(self.failure)

    def count_malformed(self, kind: str) -> None:
        """Count by kind."""
        self.malformed[kind] += 1

    async def close(self) -> None:
        """Nothing to release."""


class NoRecorder:
    """For `audit.mode = off`: keeps nothing, and every commit succeeds."""

    keeps = keeps_values = False

    def append(self, _bodies: Sequence[bytes], done: Done) -> None:
        """See Recorder."""
        done(None)

    def count_malformed(self, kind: str) -> None:
        """Ignore it."""

    async def close(self) -> None:
        """Nothing to release."""
