"""Judging a log: a stream of lines, and the checkpoints that were signed while it was written.

Each line has to be the canonical bytes of one record, stand at its place and name the hash of the line before. Each
checkpoint has to be signed by the key and give the root of the lines up to its size. The first thing that does not hold
ends the judgement with a Finding that names the record. Memory does not grow with the log.

    1  a line is a record, rendered as we render, each key once          NOT_A_RECORD DUPLICATE_KEY REFORMATTED
    2  it has the number that is due                                     MISSING REPEATED
    3  it is chained to the line before                                  EDITED
    4  the tree has the root that was signed for its size                FORGED
    5  every record that was signed for is there                         TRUNCATED PRUNED_UNSAID
    6  the checkpoints themselves are whole and in order                 CHECKPOINT_ALTERED CHECKPOINT_MISSING

Not here: reading files, and telling which record was replaced by a forger who chained the rest anew (`stores.files.verify`
does that with the stored hashes).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.audit.chain import GENESIS, maybe_link
from strictwire.audit.checkpoint import Checkpoint, NoteFault, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import Frontier
from strictwire.canon.digest import sha256
from strictwire.canon.json import Fault, NotStrict, is_rendered, parse, parse_object

_NEWLINE: Final = 10
_PRUNE: Final = b'"kind":"prune",'


class Reason(StrEnum):
    """What does not hold."""

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


_SENTENCES: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.NOT_A_RECORD: "record {record} is not a record of this log",
        Reason.DUPLICATE_KEY: "record {record} has a member twice",
        Reason.REFORMATTED: "record {record} was written anew: its bytes are not as the log writes them",
        Reason.MISSING: "record {record} is not at its place",
        Reason.REPEATED: "where record {record} belongs, an earlier one stands again",
        Reason.EDITED: "record {record} is not what the chain was built on",
        Reason.FORGED: "records {record} to {last} do not have the root that was signed",
        Reason.TRUNCATED: "record {record} and all up to {last} were signed for and are gone",
        Reason.PRUNED_UNSAID: "records {record} to {last} are gone and no prune record says so",
        Reason.CHECKPOINT_ALTERED: "a checkpoint after record {record} is not signed by the key as it stands",
        Reason.CHECKPOINT_MISSING: "a checkpoint after record {record} that was signed is gone",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The first thing wrong with a log."""

    reason: Reason
    record: int
    """The first bad record; where only a stretch is known, its first."""
    last: int
    """The last record it may be. Equal to `record` when that one is known exactly."""

    def __str__(self) -> str:
        return _SENTENCES[self.reason].format(record=self.record, last=self.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What verification found."""

    finding: Finding | None
    first: int
    """The first record that is still there; more than 0 after pruning."""
    size: int
    """How many records the log has had; with a finding, how many were judged."""
    signed: int
    """How many of them a checkpoint vouches for. Those after it are chained, but nobody has signed for them yet."""
    checkpoints: int
    root: bytes
    torn: int
    """Bytes of an unfinished last line, or of a hole of zeros that nobody signed for: a crash leaves them, the next start
    sets them aside."""

    @property
    def ok(self) -> bool:
        """Whether the log holds."""
        return self.finding is None


class Verifier:
    """Judges one log. `feed` it the lines, each with its line break, as often as is handy; then `finish`."""

    def __init__(
        self,
        *,
        key: PublicKey,
        notes: Iterable[bytes],
        start: Frontier | None = None,
        head: bytes = GENESIS,
        anchor: Checkpoint | None = None,
    ) -> None:
        """`notes` are the signed notes in the order they were made. `start` and `head` are where a pruned log begins;
        `anchor` is the newest checkpoint that was kept elsewhere."""
        self._tree = start.copy() if start else Frontier()
        self._first = self._tree.size
        self._head = head
        self._anchor = anchor
        self._signed = 0
        self._pruned_to = 0
        self._torn = 0
        self._noted = 0
        self._checkpoints = 0
        self._finding: Finding | None = None
        self._coming = self._open_all(iter(notes), key)
        self._next = self._advance()

    @property
    def finding(self) -> Finding | None:
        """What was found so far."""
        return self._finding

    def feed(self, lines: Iterable[bytes]) -> Finding | None:
        """Judge more lines. Returns the finding as soon as there is one; later lines are not looked at."""
        if self._finding is None:
            self._finding = self._judge(lines)
        return self._finding

    def finish(self) -> Verdict:
        """The verdict, now that all lines were fed."""
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
        )

    def _judge(self, lines: Iterable[bytes]) -> Finding | None:
        # One loop with everything at hand: a log of ten gigabytes passes through here line by line.
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
            # Bytes that are signed for are as we wrote them; how the others are written has to be looked at.
            if not text.startswith(prefix) or (due < 0 and not is_rendered(text)):
                return self._find_in_line(text, before)
            if self._first and text.startswith(_PRUNE, len(prefix)):
                self._note_prune(text)
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
        """Rungs 1 to 3 for a line that fails one of them. What the line before it lacks, its successor shows."""
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
        # The line names another hash than the one before it has: that one was changed, unless this is the first.
        return _at(Reason.EDITED, max(size - 1, self._first))

    def _check_root(self) -> Finding | None:
        """Every checkpoint for the present size gives the present root."""
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
        """The checkpoints in order. One that is not whole is a finding, except a last one that a crash cut short."""
        for note in notes:
            try:
                checkpoint = open_checkpoint(note, key)
            except NoteRefused as refused:
                if refused.fault is not NoteFault.MALFORMED or next(notes, None) is not None:
                    self._finding = _at(Reason.CHECKPOINT_ALTERED, self._noted)
                break
            if checkpoint.size < self._noted:
                self._finding = _at(Reason.CHECKPOINT_ALTERED, checkpoint.size)
                break
            self._noted = checkpoint.size
            if checkpoint.size >= self._first:
                self._checkpoints += 1
                yield checkpoint
        if self._anchor is not None and self._anchor.size > self._noted and self._finding is None:
            yield self._anchor

    def _note_prune(self, text: bytes) -> None:
        first = parse_object(text).get("first")
        if isinstance(first, int):
            self._pruned_to = max(self._pruned_to, first)

    def _find_at_end(self, size: int) -> Finding | None:
        if self._next is not None:
            return Finding(reason=Reason.TRUNCATED, record=size, last=self._next.size - 1)
        if self._anchor is not None and self._anchor.size > self._noted:
            return _at(Reason.CHECKPOINT_MISSING, self._noted)
        if self._first > self._pruned_to:
            return Finding(reason=Reason.PRUNED_UNSAID, record=self._pruned_to, last=self._first - 1)
        return None


def _at(reason: Reason, record: int) -> Finding:
    return Finding(reason=reason, record=record, last=record)


def _find_malformed(text: bytes) -> Reason | None:
    """Rung 1."""
    try:
        parse(text)
    except NotStrict as fault:
        return Reason.DUPLICATE_KEY if fault.fault is Fault.DUPLICATE_KEY else Reason.NOT_A_RECORD
    return None if is_rendered(text) else Reason.REFORMATTED


def find_first_difference(ours: Iterable[bytes], stored: Iterable[bytes], first: int) -> int | None:
    """The number of the first record whose leaf hash is not the stored one; both streams start at record `first`."""
    for offset, (leaf, kept) in enumerate(zip(ours, stored, strict=False)):
        if leaf != kept:
            return first + offset
    return None
