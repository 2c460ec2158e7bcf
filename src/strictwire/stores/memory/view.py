"""A trail in memory for readers: the twin of `stores.files.view`, over the records of a MemoryRecorder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from strictwire.audit.chain import GENESIS
from strictwire.audit.checkpoint import PublicKey, SigningKey
from strictwire.audit.merkle import Frontier, leaf_hash, prove_inclusion, stored_index
from strictwire.audit.verify import Verifier
from strictwire.audit.view import Judged, Proof, Proven
from strictwire.fault.failure import Refused
from strictwire.stores.fault import LogFault
from strictwire.stores.memory.recorder import MemoryRecorder

MEMORY_KEY: Final = SigningKey(name="memory.local/audit", seed=bytes(32))
"""Not a secret: nothing that it signs outlives the process."""


class MemoryTrailView:
    """See audit.view.TrailView."""

    def __init__(self, recorder: MemoryRecorder) -> None:
        self._recorder = recorder

    @property
    def key(self) -> PublicKey:
        """See TrailView."""
        return MEMORY_KEY.public

    def lines_back(self, before: int | None = None) -> Iterator[bytes]:
        """See TrailView."""
        return reversed(self._recorder.lines[:before])

    def judge(self, after: Judged | None = None, *, limit: int) -> Judged:
        """See TrailView. Always from the start: reading memory again costs little."""
        size = limit + (0 if after is None else after.size)
        verifier = Verifier(key=self.key, notes=(), start=Frontier(), head=GENESIS)
        verifier.feed(line + b"\n" for line in self._recorder.lines[:size])
        verdict = verifier.finish()
        is_whole = verdict.size == len(self._recorder.lines) and verdict.size < size
        return Judged(size=verdict.size, root=verdict.root, signed=0, is_whole=is_whole, finding=verdict.finding)

    def prove(self, indexes: Sequence[int]) -> Proven:
        """See TrailView. Raises Refused: there is no such record."""
        lines, tree, hashes = self._recorder.lines, Frontier(), list[bytes]()
        for line in lines:
            hashes += tree.push(leaf_hash(line))
        missing = [index for index in indexes if index >= tree.size]
        if missing:
            raise Refused(LogFault("no_such_record", record=missing[0]).as_failure())

        def prove(index: int) -> Proof:
            path = prove_inclusion(index, tree.size, lambda level, place: hashes[stored_index(level, place)])
            return Proof(index=index, line=lines[index], hashes=tuple(path))

        return Proven(checkpoint=MEMORY_KEY.sign(size=tree.size, root=tree.root()), proofs=tuple(map(prove, indexes)))
