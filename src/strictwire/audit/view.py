"""The seam between tool packs and the audit store: what may be asked of a trail by those who never write it.

A store implements this (`stores.files.view`); the composition root hands it to the packs it opens. Only types live here.
Every method raises Refused, with the code of the audit family, where the trail cannot be read or does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from strictwire.audit.checkpoint import Checkpoint, PublicKey
from strictwire.audit.verify import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How far a trail was judged, and what was found."""

    size: int
    """Records before this one were judged, here or in the judgement this one goes on from."""
    root: bytes
    """The root of the tree over them."""
    signed: int
    """How many of them a checkpoint vouches for, as far as this judgement saw."""
    is_whole: bool
    """Whether the end of the trail was reached."""
    finding: Finding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One record and the hashes from it to the root that a checkpoint signs."""

    index: int
    line: bytes
    """The exact bytes of the record."""
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """Records that one checkpoint vouches for."""

    checkpoint: Checkpoint
    proofs: tuple[Proof, ...]


class TrailView(Protocol):
    """One trail, for reading."""

    @property
    def key(self) -> PublicKey:
        """What its checkpoints are signed with."""

    def lines_back(self, before: int | None = None) -> Iterator[bytes]:
        """The lines of the records, newest first; with a number those of the records before that one."""

    def judge(self, after: Judged | None = None, *, limit: int) -> Judged:
        """Judge up to `limit` records: from the first, or from where an earlier judgement ended."""

    def prove(self, indexes: Sequence[int]) -> Proven:
        """Prove records by one checkpoint, which is signed now if none covers them yet."""
