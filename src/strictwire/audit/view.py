"""The read-only interface to an audit trail, for tool packs.

`stores.files.view` implements it; the composition root passes it to the packs it opens. Every method raises Refused with
a code of the audit family if the trail cannot be read or does not verify.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from strictwire.audit.checkpoint import Checkpoint, PublicKey
from strictwire.audit.verify import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The result of verifying a part of a trail."""

    size: int
    """How many records are verified, including those of the earlier result that this one continues."""
    root: bytes
    """The Merkle root over them."""
    signed: int
    """How many of them are covered by a checkpoint that this verification has read."""
    is_whole: bool
    """Whether the verification reached the end of the trail."""
    finding: Finding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One record and its inclusion proof: the hashes from the record to the signed root."""

    index: int
    line: bytes
    """The exact bytes of the record."""
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """Records with inclusion proofs for one checkpoint."""

    checkpoint: Checkpoint
    proofs: tuple[Proof, ...]


class TrailView(Protocol):
    """Read access to one trail."""

    @property
    def key(self) -> PublicKey:
        """The public key of its checkpoints."""

    def lines_back(self, before: int | None = None) -> Iterator[bytes]:
        """The lines of the records, newest first. With `before`, only records with a smaller number."""

    def judge(self, after: Judged | None = None, *, limit: int) -> Judged:
        """Verify up to `limit` records, from the first one or from the end of an earlier result."""

    def prove(self, indexes: Sequence[int]) -> Proven:
        """Prove records with one checkpoint. Signs a new checkpoint if none covers them yet."""
