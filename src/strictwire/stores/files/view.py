"""A trail for readers (`audit.view.TrailView`): newest first, verified in stretches, proved.

A record is found by binary search in its file, since lines state their numbers: no call reads more of a log because the
log is long. No file stays open between calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from itertools import islice
from typing import Final

from msgspec import structs

from strictwire.audit.chain import GENESIS, maybe_link
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import HASH_BYTES, Frontier, leaf_hash, read_frontier, stored_size
from strictwire.audit.verify import Finding, Reason, Verifier
from strictwire.audit.view import Judged, Proven
from strictwire.fault.failure import Refused
from strictwire.stores.fault import DAMAGED, LogFault, mapped_errors
from strictwire.stores.files.anchor import parse_anchor
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import Disk, ReadingDisk
from strictwire.stores.files.keys import KeyUnsafe, public_path, read_public_key
from strictwire.stores.files.layout import (
    HASHES,
    first_record,
    list_segments,
    read_last_note,
    read_notes,
    read_records,
    stored_hashes,
)
from strictwire.stores.files.search import find_line, lines_back, open_listed, prove_line, read_line

_AT_END: Final = frozenset({Reason.TRUNCATED, Reason.CHECKPOINT_MISSING})
"""Findings about the end of a log, which a verification that stops earlier has not seen."""


class FileTrailView:
    """See audit.view.TrailView. Folder and key need not exist before the first call. Every method can raise Refused."""

    def __init__(self, config: TrailConfig) -> None:
        self._config = config

    @cached_property
    def key(self) -> PublicKey:
        """See TrailView."""
        with _refusing():
            try:
                return read_public_key(public_path(self._config.key_path)).for_log(self._config.log)
            except KeyUnsafe as unsafe:
                raise LogFault(f"key_{unsafe.reason}") from unsafe

    def lines_back(self, before: int | None = None) -> Iterator[bytes]:
        """See TrailView. Follows the hash chain: Refused with `damaged` where a line is not the one that the next names."""
        with _refusing():
            expected = None if before is None else self._hash_before(before)
            for line in self._lines_back(before):
                link = maybe_link(line)
                if link is None or (expected is not None and leaf_hash(line) != expected):
                    raise LogFault(DAMAGED)
                expected = link.prev
                yield line

    def _lines_back(self, before: int | None) -> Iterator[bytes]:
        disk = ReadingDisk(self._config.folder)
        for segment in reversed(list_segments(disk)):
            if segment.first is None or (before is not None and segment.first >= before):
                continue
            file = open_listed(disk, segment)
            if file is not None:
                with closing(file):
                    yield from lines_back(file, file.size() if before is None else find_line(file, before))

    def _hash_before(self, record: int) -> bytes | None:
        """The hash that a record names as that of the one before it; None if there is no such record yet."""
        with suppress(LogFault):
            link = maybe_link(read_line(ReadingDisk(self._config.folder), record))
            return None if link is None else link.prev
        return None

    def judge(self, after: Judged | None = None, *, limit: int) -> Judged:
        """See TrailView."""
        with _refusing():
            anchor = self._read_anchor()
            disk = ReadingDisk(self._config.folder)
            first = first_record(disk)
            start = max(first, after.size if after is not None else 0)
            tree, head = _tree_at(disk, start, signed=first if after is None else after.signed)
            if after is not None and start == after.size and tree.root() != after.root:
                return _changed_since(after, first)
            verifier = Verifier(key=self.key, notes=read_notes(disk), start=tree, head=head, anchor=anchor)
            verifier.feed(islice(read_records(disk, start), limit))
            verdict = verifier.finish()
        is_whole = verdict.size - start < limit
        finding = verdict.finding
        if finding is not None and not _is_about_stretch(finding, is_whole=is_whole, is_continued=start > first):
            finding = None
        return Judged(size=verdict.size, root=verdict.root, signed=verdict.signed, is_whole=is_whole, finding=finding)

    def prove(self, indexes: Sequence[int]) -> Proven:
        """See TrailView. Refused with `damaged` if the stored hashes do not lead to the signed root."""
        with _refusing():
            disk = ReadingDisk(self._config.folder)
            checkpoint = self._covering(disk, max(indexes, default=0))
            return Proven(checkpoint=checkpoint, proofs=tuple(prove_line(disk, index, checkpoint) for index in indexes))

    def _covering(self, disk: Disk, index: int) -> Checkpoint:
        """A checkpoint that covers a record; if there is none yet, one is signed now."""
        checkpoint = self._read_last(disk)
        if checkpoint is None or checkpoint.size <= index:
            with closing(open_writer(self._config)) as writer:
                writer.sign()
            checkpoint = self._read_last(disk)
        if checkpoint is None or checkpoint.size <= index:
            raise LogFault("no_such_record", record=index)
        return checkpoint

    def _read_last(self, disk: Disk) -> Checkpoint | None:
        note = read_last_note(disk)
        return None if note is None else self._read_checkpoint(note)

    def _read_anchor(self) -> Checkpoint | None:
        path = self._config.anchor_path
        if not path.is_file():
            return None
        try:
            return parse_anchor(path.read_bytes()).checkpoint(self.key)
        except NoteRefused as refused:
            raise LogFault(DAMAGED) from refused

    def _read_checkpoint(self, note: bytes) -> Checkpoint:
        try:
            return open_checkpoint(note, self.key)
        except NoteRefused as refused:
            raise LogFault(DAMAGED) from refused


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn what goes wrong with the trail into the failure for the caller of a tool."""
    try:
        with mapped_errors():
            yield
    except LogFault as fault:
        text = "The audit log could not be read, or does not hold"
        raise Refused(structs.replace(fault.as_failure(), text=text)) from fault


def _tree_at(disk: Disk, size: int, *, signed: int) -> tuple[Frontier, bytes]:
    """The tree over the first `size` records and the hash of the last of them, from the stored hashes.

    Hashes after the last checkpoint may be missing after a crash; those are computed from the lines.
    """
    found = disk.stat(HASHES)
    stored = min(size, stored_size(0 if found is None else found.size // HASH_BYTES))
    if stored < signed:
        stored = size
    with stored_hashes(disk) as read:
        tree = read_frontier(stored, read)
        head = read(0, stored - 1) if stored else GENESIS
    if stored < size:
        for line in islice(read_records(disk, stored), size - stored):
            head = leaf_hash(line.removesuffix(b"\n"))
            tree.push(head)
    return tree, head


def _changed_since(after: Judged, first: int) -> Judged:
    """The records verified before no longer have the root they had: they were changed since."""
    finding = Finding(reason=Reason.FORGED, record=first, last=after.size - 1)
    return Judged(size=after.size, root=after.root, signed=after.signed, is_whole=False, finding=finding)


def _is_about_stretch(finding: Finding, *, is_whole: bool, is_continued: bool) -> bool:
    """Whether a finding is about the stretch that was verified."""
    if finding.reason is Reason.PRUNED_UNSAID:
        # The prune record may be in an earlier or a later stretch.
        return is_whole and not is_continued
    return is_whole or finding.reason not in _AT_END
