"""A trail for those who only read (`audit.view`): from the end backwards, judged in stretches, proved.

A record is found by bisection over its file, since lines show their numbers: no call reads more of a log because the log
is long. Nothing here keeps a file open between calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from itertools import islice
from typing import Final

from msgspec import structs

from strictwire.audit.chain import GENESIS, maybe_link
from strictwire.audit.checkpoint import Checkpoint, NoteRefused, PublicKey, open_checkpoint
from strictwire.audit.merkle import (
    HASH_BYTES,
    Frontier,
    ReadHash,
    fold_inclusion,
    leaf_hash,
    prove_inclusion,
    read_frontier,
    stored_size,
)
from strictwire.audit.verify import Finding, Reason, Verifier
from strictwire.audit.view import Judged, Proof, Proven
from strictwire.fault.failure import Refused
from strictwire.stores.fault import LogFault, mapped_errors
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import Disk, OpenFile, ReadingDisk
from strictwire.stores.files.keys import KeyUnsafe, public_path, read_public_key
from strictwire.stores.files.layout import (
    HASHES,
    Segment,
    list_segments,
    maybe_open_hashes,
    read_last_note,
    read_notes,
    read_records,
    reading,
    sealed_name,
)

_BLOCK: Final = 1 << 18
"""Bytes read at once from the end: a few hundred records."""

_PEEK: Final = 4096
"""Bytes read to find where a line begins and which one it is."""

_AHEAD: Final = frozenset({Reason.TRUNCATED, Reason.CHECKPOINT_MISSING})
"""Findings about the end of a log, which a judgement that stops before it has not seen."""


class FileTrailView:
    """See audit.view.TrailView. The folder and the key need not be there before the first call."""

    def __init__(self, trail: TrailConfig) -> None:
        self._trail = trail

    @cached_property
    def key(self) -> PublicKey:
        """See TrailView. Raises Refused."""
        with _refusing():
            try:
                return read_public_key(public_path(self._trail.key_path))
            except KeyUnsafe as unsafe:
                raise LogFault(f"key_{unsafe.reason}") from unsafe

    def lines_back(self, before: int | None = None) -> Iterator[bytes]:
        """See TrailView. Raises Refused."""
        with _refusing():
            disk = ReadingDisk(self._trail.folder)
            for segment in reversed(list_segments(disk)):
                if segment.first is not None and (before is None or segment.first < before):
                    yield from _segment_back(disk, segment, before)

    def judge(self, after: Judged | None = None, *, limit: int) -> Judged:
        """See TrailView. Raises Refused."""
        with _refusing():
            anchor = self._maybe_anchor()
            disk = ReadingDisk(self._trail.folder)
            first = next((segment.first for segment in list_segments(disk) if segment.first is not None), 0)
            start = max(first, after.size if after is not None else 0)
            tree, head = _tree_at(disk, start, signed=first if after is None else after.signed)
            if after is not None and start == after.size and tree.root() != after.root:
                return _changed_since(after, first)
            verifier = Verifier(key=self.key, notes=read_notes(disk), start=tree, head=head, anchor=anchor)
            verifier.feed(islice(read_records(disk, start), limit))
            verdict = verifier.finish()
        is_whole = verdict.size - start < limit
        finding = verdict.finding
        if finding is not None and not _is_told(finding, is_whole=is_whole, is_continued=start > first):
            finding = None
        return Judged(size=verdict.size, root=verdict.root, signed=verdict.signed, is_whole=is_whole, finding=finding)

    def prove(self, indexes: Sequence[int]) -> Proven:
        """See TrailView. Raises Refused: also `damaged`, where what is stored does not lead to what was signed."""
        with _refusing():
            disk = ReadingDisk(self._trail.folder)
            checkpoint = self._covering(disk, max(indexes, default=0))
            with maybe_open_hashes(disk) as hashes:
                read = reading(hashes)
                return Proven(
                    checkpoint=checkpoint,
                    proofs=tuple(_prove(disk, index, checkpoint, read) for index in indexes),
                )

    def _covering(self, disk: Disk, index: int) -> Checkpoint:
        checkpoint = self._maybe_last(disk)
        if checkpoint is None or checkpoint.size <= index:
            with closing(open_writer(self._trail)) as log:
                log.sign()
            checkpoint = self._maybe_last(disk)
        if checkpoint is None or checkpoint.size <= index:
            raise LogFault("no_such_record", record=index)
        return checkpoint

    def _maybe_last(self, disk: Disk) -> Checkpoint | None:
        note, _ = read_last_note(disk)
        return None if note is None else self._open(note)

    def _maybe_anchor(self) -> Checkpoint | None:
        path = self._trail.anchor_path
        return self._open(path.read_bytes()) if path.is_file() else None

    def _open(self, note: bytes) -> Checkpoint:
        try:
            return open_checkpoint(note, self.key)
        except NoteRefused as refused:
            raise LogFault("damaged") from refused


@contextmanager
def _refusing() -> Iterator[None]:
    """What goes wrong with the trail becomes the failure that a caller of a tool gets."""
    try:
        with mapped_errors():
            yield
    except LogFault as fault:
        raise Refused(
            structs.replace(fault.as_failure(), text="The audit log could not be read, or does not hold")
        ) from fault


def _tree_at(disk: Disk, size: int, *, signed: int) -> tuple[Frontier, bytes]:
    """The tree over the first records and the hash of the last of them, as they are stored.

    Those behind the last checkpoint need not be stored yet: theirs are made from the lines.
    """
    found = disk.look(HASHES)
    stored = min(size, stored_size(0 if found is None else found.size // HASH_BYTES))
    if stored < signed:
        stored = size
    with maybe_open_hashes(disk) as hashes:
        read = reading(hashes)
        tree = read_frontier(stored, read)
        head = read(0, stored - 1) if stored else GENESIS
    if stored < size:
        for line in islice(read_records(disk, stored), size - stored):
            head = leaf_hash(line.removesuffix(b"\n"))
            tree.push(head)
    return tree, head


def _changed_since(after: Judged, first: int) -> Judged:
    """What was judged before no longer has the root it had: somebody wrote there since."""
    finding = Finding(reason=Reason.FORGED, record=first, last=after.size - 1)
    return Judged(size=after.size, root=after.root, signed=after.signed, is_whole=False, finding=finding)


def _is_told(finding: Finding, *, is_whole: bool, is_continued: bool) -> bool:
    """Whether the finding is one about the stretch that was judged."""
    if finding.reason is Reason.PRUNED_UNSAID:
        # The record that says so may stand before, or still ahead.
        return is_whole and not is_continued
    return is_whole or finding.reason not in _AHEAD


def _segment_back(disk: Disk, segment: Segment, before: int | None) -> Iterator[bytes]:
    file = _maybe_open(disk, segment)
    if file is None:
        return
    with closing(file):
        end = _size(disk, segment, file) if before is None else find_line(file, before, size=_size(disk, segment, file))
        yield from _lines_back(file, end)


def _maybe_open(disk: Disk, segment: Segment) -> OpenFile | None:
    """The file, under its own name or the one a rotation gave it since it was listed; None if it was pruned."""
    for name in (segment.name, sealed_name(segment.first or 0)):
        try:
            file = disk.open(name)
        except FileNotFoundError:
            continue
        link = maybe_link(file.read(0, _PEEK))
        if link is not None and link.seq == segment.first:
            return file
        file.close()
    return None


def _size(disk: Disk, segment: Segment, file: OpenFile) -> int:
    for name in (segment.name, sealed_name(segment.first or 0)):
        look = disk.look(name)
        if look is not None and look.ident == file.ident:
            return look.size
    return 0


def _lines_back(file: OpenFile, end: int) -> Iterator[bytes]:
    """The whole lines before a place, last first, without their line breaks. What a crash left unfinished is no line."""
    rest: bytes | None = None
    while end > 0:
        start = max(0, end - _BLOCK)
        parts = (file.read(start, end - start) + (rest or b"")).split(b"\n")
        if rest is None:
            # Behind the last line break there is nothing, or a line that is not finished.
            parts.pop()
            if not parts:
                end = start
                continue
        rest, *lines = parts
        yield from reversed(lines)
        end = start
    if rest:
        yield rest


def find_line(file: OpenFile, seq: int, *, size: int) -> int:
    """Where the line of the first record that is not before `seq` begins; the end where there is none."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        start = _line_start(file, middle, size)
        link = maybe_link(file.read(start, _PEEK)) if start < size else None
        if link is not None and link.seq < seq:
            low = start + 1
        else:
            high = middle
    return _line_start(file, low, size)


def _line_start(file: OpenFile, offset: int, size: int) -> int:
    """Where the first line that begins at a place or behind it begins."""
    if offset == 0:
        return 0
    at = offset - 1
    while at < size:
        block = file.read(at, _PEEK)
        found = block.find(b"\n")
        if found >= 0:
            return at + found + 1
        if not block:
            break
        at += len(block)
    return size


def _prove(disk: Disk, index: int, checkpoint: Checkpoint, read: ReadHash) -> Proof:
    line = _read_line(disk, index)
    hashes = tuple(prove_inclusion(index, checkpoint.size, read))
    if fold_inclusion(leaf_hash(line), index=index, size=checkpoint.size, proof=hashes) != checkpoint.root:
        raise LogFault("damaged", record=index)
    return Proof(index=index, line=line, hashes=hashes)


def _read_line(disk: Disk, index: int) -> bytes:
    holding = [each for each in list_segments(disk) if each.first is not None and each.first <= index][-1:]
    for segment in holding:
        file = _maybe_open(disk, segment)
        if file is None:
            continue
        with closing(file):
            size = _size(disk, segment, file)
            start = find_line(file, index, size=size)
            end = _line_start(file, start + 1, size)
            line = file.read(start, end - start).removesuffix(b"\n")
            if line.startswith(b'{"seq":%d,' % index):
                return line
    raise LogFault("no_such_record", record=index)
