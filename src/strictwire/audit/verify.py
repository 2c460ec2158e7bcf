"""Verifies a log: a stream of lines, and the checkpoints that were signed while it was written.

Each line must be the canonical bytes of one record, have the next number and contain the hash of the previous line. Each
checkpoint must be signed by the key and match the root of the lines up to its size. Verification stops at the first
violation, with a Finding that names the record. Memory use does not depend on the size of the log.

    1  a line is a record in canonical form, without duplicate keys      NOT_A_RECORD DUPLICATE_KEY REFORMATTED
    2  it has the expected number                                        MISSING REPEATED
    3  it contains the hash of the previous line                         EDITED
    4  the tree has the signed root                                      FORGED
    5  every signed record is present, unless a signed prune removed it  TRUNCATED PRUNED_UNSAID
    6  the checkpoints are intact, in order and complete                 CHECKPOINT_ALTERED CHECKPOINT_MISSING
    7  with the key: records that no checkpoint covers have its tag      NOT_AUTHENTIC

Not here: reading files, and finding the replaced record if a forger recomputed the rest of the chain
(`stores.files.verify` does that with the stored hashes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.audit.chain import GENESIS, is_authentic, maybe_link, parse_record
from strictwire.audit.checkpoint import Checkpoint, NoteFault, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import Frontier
from strictwire.canon.digest import sha256
from strictwire.canon.json import Fault, NotStrict, is_rendered

_NEWLINE: Final = 10
_RECOVERY: Final = re.compile(rb'(?:"tag":"[0-9a-f]{32}",)?"kind":"recovery",')


class Reason(StrEnum):
    """What is violated."""

    NOT_A_RECORD = "not_a_record"
    DUPLICATE_KEY = "duplicate_key"
    REFORMATTED = "reformatted"
    MISSING = "missing"
    REPEATED = "repeated"
    EDITED = "edited"
    FORGED = "forged"
    TRUNCATED = "truncated"
    PRUNED_UNSAID = "pruned_unsaid"
    CHECKPOINT_ALTERED = "checkpoint_altered"
    CHECKPOINT_MISSING = "checkpoint_missing"
    NOT_AUTHENTIC = "not_authentic"
    UNEXPECTED_FILE = "unexpected_file"
    LOG_MISSING = "log_missing"
    WITNESS_DISAGREES = "witness_disagrees"


_SENTENCES: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.NOT_A_RECORD: "record {record} is not a record of this log",
        Reason.DUPLICATE_KEY: "record {record} has a duplicate key",
        Reason.REFORMATTED: "record {record} was rewritten: its bytes are not in canonical form",
        Reason.MISSING: "record {record} is missing",
        Reason.REPEATED: "an earlier record is repeated in place of record {record}",
        Reason.EDITED: "record {record} was changed: it breaks the hash chain",
        Reason.FORGED: "records {record} to {last} do not match the signed root",
        Reason.TRUNCATED: "the signed records {record} to {last} are missing",
        Reason.PRUNED_UNSAID: "records {record} to {last} are missing, and no signed checkpoint allows that",
        Reason.CHECKPOINT_ALTERED: "a checkpoint after record {record} is out of order or not signed by the key",
        Reason.CHECKPOINT_MISSING: "a signed checkpoint after record {record} is missing",
        Reason.NOT_AUTHENTIC: "record {record} was not written by a server with the key",
        Reason.UNEXPECTED_FILE: "{name} does not belong to the trail, or was changed",
        Reason.LOG_MISSING: "{name}: the log is missing, but its newest checkpoint is kept beside the key",
        Reason.WITNESS_DISAGREES: "records 0 to {last} are not those that the witness has seen",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The first violation in a log."""

    reason: Reason
    record: int
    """The bad record, or the first of a range that contains it."""
    last: int
    """The last record of that range; equal to `record` if the bad record is known exactly."""
    name: str = ""
    """The file that it is about, if it is not about a record."""

    def __str__(self) -> str:
        return _SENTENCES[self.reason].format(record=self.record, last=self.last, name=ascii(self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a verification."""

    finding: Finding | None
    first: int
    """The number of the oldest record; greater than 0 after pruning."""
    size: int
    """The number of records, including pruned ones; with a finding, the number of verified records."""
    signed: int
    """How many of them are covered by a checkpoint. Later records are chained but not signed yet."""
    checkpoints: int
    root: bytes
    torn: int
    """Bytes of an unfinished last line, or of unsigned zeros, that a crash left; the next start moves them away."""
    set_aside: Mapping[str, str] = field(default_factory=dict)
    """The files that recovery records name, with the digests of their content."""

    @property
    def ok(self) -> bool:
        """Whether the log is intact."""
        return self.finding is None


class Verifier:
    """Verifies one log. Call `feed` with lines (with line breaks) as often as needed, then `finish`."""

    def __init__(
        self,
        *,
        key: PublicKey,
        notes: Iterable[bytes],
        start: Frontier | None = None,
        head: bytes = GENESIS,
        anchor: Checkpoint | None = None,
        tag_key: bytes = b"",
    ) -> None:
        """`notes` are the signed notes in order. `start` and `head` are the tree and the last leaf hash before the first
        line of a pruned log. `anchor` is the newest checkpoint from another place, which reveals deleted checkpoints.
        `tag_key` reveals records that someone without the key has added since the last checkpoint."""
        self._tree = start.copy() if start else Frontier()
        self._first = self._tree.size
        self._head = head
        self._anchor = anchor
        self._signed = 0
        self._tag_key = tag_key
        self._allowed_first = 0
        self._numbered = self._notes = 0
        self._set_aside: dict[str, str] = {}
        self._torn = 0
        self._noted = 0
        self._checkpoints = 0
        self._finding: Finding | None = None
        self._coming = self._open_all(iter(notes), key)
        self._next = self._advance()

    @property
    def finding(self) -> Finding | None:
        """The finding so far, or None."""
        return self._finding

    def feed(self, lines: Iterable[bytes]) -> Finding | None:
        """Verify more lines. Returns the finding as soon as there is one; later lines are ignored."""
        if self._finding is None:
            self._finding = self._judge(lines)
        return self._finding

    def finish(self) -> Verdict:
        """The result after all lines were fed."""
        size = self._tree.size
        if self._finding is None:
            self._finding = self._find_at_end(size)
        return Verdict(
            finding=self._finding,
            first=self._first,
            size=size,
            signed=self._signed,
            checkpoints=self._checkpoints,
            root=self._tree.root(),
            torn=self._torn,
            set_aside=self._set_aside,
        )

    def _judge(self, lines: Iterable[bytes]) -> Finding | None:
        # One loop with local variables: this is the hot path for logs of many gigabytes.
        tree, head = self._tree, self._head
        if (found := self._check_root()) is not None:
            return found
        due = self._due()
        rest, text = iter(lines), b""
        for line in rest:
            if line[-1] != _NEWLINE or (due < 0 and b"\x00" in line):
                self._torn = len(line) + sum(map(len, rest))
                break
            text, before = line[:-1], text
            prefix = b'{"seq":%d,"prev":"%s",' % (tree.size, head.hex().encode())
            # Signed bytes are canonical because we wrote them; only unsigned lines need the expensive check.
            if not text.startswith(prefix) or (due < 0 and not is_rendered(text)):
                return self._find_in_line(text, before)
            if due < 0 and self._tag_key and not is_authentic(text, prev=head, tag_key=self._tag_key):
                return _at(Reason.NOT_AUTHENTIC, tree.size)
            if _RECOVERY.match(text, len(prefix)):
                self._note_recovery(text)
            head = self._head = sha256(b"\x00", text)
            tree.push(head)
            if tree.size == due:
                if (found := self._check_root()) is not None:
                    return found
                due = self._due()
        return None

    def _due(self) -> int:
        return -1 if self._next is None else self._next.size

    def _find_in_line(self, text: bytes, before: bytes) -> Finding:
        """Checks 1 to 3 for a line that fails one of them. An edited line shows as a mismatch in the next line."""
        size = self._tree.size
        if before and (reason := _find_malformed(before)) is not None:
            return _at(reason, size - 1)
        if (reason := _find_malformed(text)) is not None:
            return _at(reason, size)
        link = maybe_link(text)
        if link is None:
            return _at(Reason.NOT_A_RECORD, size)
        if link.seq != size:
            return _at(Reason.MISSING if link.seq > size else Reason.REPEATED, size)
        # `prev` does not match the previous line, so the previous line was changed, unless this is the first line.
        return _at(Reason.EDITED, max(size - 1, self._first))

    def _check_root(self) -> Finding | None:
        """Compare the current root with every checkpoint of the current size."""
        root, size = self._tree.root(), self._tree.size
        while self._next is not None and self._next.size == size:
            if self._next.root != root:
                return Finding(reason=Reason.FORGED, record=self._signed, last=size - 1)
            self._signed = size
            self._next = self._advance()
        return self._finding

    def _advance(self) -> Checkpoint | None:
        return next(self._coming, None)

    def _open_all(self, notes: Iterator[bytes], key: PublicKey) -> Iterator[Checkpoint]:
        """The checkpoints in order. An invalid one is a finding, except the last one if a crash truncated it."""
        for note in notes:
            try:
                checkpoint = open_checkpoint(note, key)
            except NoteRefused as refused:
                if refused.fault is not NoteFault.MALFORMED or next(notes, None) is not None:
                    self._finding = _at(Reason.CHECKPOINT_ALTERED, self._noted)
                break
            if (reason := self._find_in_order(checkpoint)) is not None:
                self._finding = _at(reason, min(checkpoint.size, self._noted))
                break
            self._noted, self._numbered = checkpoint.size, checkpoint.number
            self._notes += 1
            self._allowed_first = max(self._allowed_first, checkpoint.first)
            if checkpoint.size >= self._first:
                self._checkpoints += 1
                yield checkpoint
        if self._anchor is not None and self._anchor.size > self._noted and self._finding is None:
            yield self._anchor

    def _note_recovery(self, text: bytes) -> None:
        record = parse_record(text)
        self._set_aside[str(record.get("kept_as"))] = str(record.get("digest"))

    def _find_in_order(self, checkpoint: Checkpoint) -> Reason | None:
        """Check 6 for one checkpoint after the others. Those of earlier versions have no numbers, and come first."""
        if checkpoint.size < self._noted or (self._numbered and checkpoint.number <= self._numbered):
            return Reason.CHECKPOINT_ALTERED
        if checkpoint.begins and not self._notes:
            return None
        if checkpoint.number and checkpoint.number != (self._numbered or self._notes) + 1:
            return Reason.CHECKPOINT_MISSING
        return None

    def _find_at_end(self, size: int) -> Finding | None:
        if self._next is not None:
            return Finding(reason=Reason.TRUNCATED, record=size, last=self._next.size - 1)
        anchor = self._anchor
        if anchor is not None and (anchor.size > self._noted or anchor.number > self._numbered):
            return _at(Reason.CHECKPOINT_MISSING, self._noted)
        if self._first > self._allowed_first:
            return Finding(reason=Reason.PRUNED_UNSAID, record=self._allowed_first, last=self._first - 1)
        return None


def _at(reason: Reason, record: int) -> Finding:
    return Finding(reason=reason, record=record, last=record)


def _find_malformed(text: bytes) -> Reason | None:
    """Check 1 for one line."""
    try:
        parse_record(text)
    except NotStrict as fault:
        return Reason.DUPLICATE_KEY if fault.fault is Fault.DUPLICATE_KEY else Reason.NOT_A_RECORD
    return None if is_rendered(text) else Reason.REFORMATTED


def find_first_difference(ours: Iterable[bytes], stored: Iterable[bytes], first: int) -> int | None:
    """The number of the first record whose leaf hash differs from the stored one; both streams start at `first`."""
    for offset, (leaf, kept) in enumerate(zip(ours, stored, strict=False)):
        if leaf != kept:
            return first + offset
    return None
