"""What a writer knows about the end of a log: all that the next record needs, however long the log is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from strictwire.audit.event import Recovery
from strictwire.audit.merkle import HASH_BYTES, Frontier, stored_count
from strictwire.stores.files.anchor import render_mark
from strictwire.stores.files.disk import FileInfo, OpenFile


class LogEnd(NamedTuple):
    """Where the log ends. A commit replaces it in one assignment, so a failed commit leaves the old one in place."""

    size: int
    """Bytes of the active file."""
    tree: Frontier
    """Over all records. Never changed in place."""
    head: bytes
    """The leaf hash of the last record."""


@dataclass(slots=True, kw_only=True)
class TrailState:
    """The open files of a log and what is known about them. Changed only by its one writer."""

    file: OpenFile
    """The active file."""
    hashes: OpenFile
    notes: OpenFile
    """The checkpoints. Open, so that they can be put back if their file is deleted."""
    mark: OpenFile
    """Beside the key: how many records there are. See anchor.Mark."""
    boot: bytes
    first: int
    """The first record of the active file."""
    end: LogEnd
    signed: int
    """Records covered by a checkpoint."""
    number: int = 0
    """How many checkpoints were signed."""
    base: int = 0
    """Records before this one were pruned. Each checkpoint says so; nothing but a prune or a repair changes it."""
    pending: list[bytes] = field(default_factory=list)
    """Hashes that the hashes file lacks, in stored order. They are stored before a signature needs them."""
    durable_records: int = 0
    durable_size: int = 0
    """Bytes of the active file that a sync of ours covered."""
    fsync_failed: bool = False
    """The kernel may have marked unsynced pages as clean, so they are written again before the next sync."""
    must_reload: bool = False
    """The end of the log is not known for certain and must be read from the files again."""
    undo: tuple[FileInfo, LogEnd] | None = None
    """A failed commit that could not be undone: the active file with its lines, and where it should end."""
    recoveries: list[Recovery] = field(default_factory=list)
    """Repairs that must be recorded before anything else."""

    @property
    def records(self) -> int:
        """How many records the log has had, pruned ones included."""
        return self.end.tree.size

    @property
    def is_synced(self) -> bool:
        """Whether everything written so far survives a power cut."""
        return self.durable_size == self.end.size

    def matches(self, found: FileInfo | None) -> bool:
        """Whether the active file is the known one and has the known size."""
        return found is not None and found.size == self.end.size and found.ident == self.file.ident

    def start_file(self, file: OpenFile) -> None:
        """Continue in a new, empty active file."""
        self.file.close()
        self.file, self.first, self.durable_size = file, self.records, 0
        self.end = self.end._replace(size=0)

    def store_hashes(self) -> None:
        """Write the pending hashes to their file. Raises OSError; then they stay pending."""
        if self.pending:
            offset = stored_count(self.records) - len(self.pending)
            self.hashes.write(offset * HASH_BYTES, b"".join(self.pending))
            self.pending.clear()

    def write_mark(self) -> None:
        """Note beside the key how many records there are. Raises OSError."""
        self.mark.write(0, render_mark(self.boot, self.end.tree.size, self.durable_records))

    def cut_back(self, end: LogEnd) -> None:
        """Undo a failed commit. If that fails too, the next commit tries again before anything else. Raises OSError."""
        self.undo = FileInfo(self.file.ident, self.file.size()), end
        self.must_reload = True
        self.file.truncate(end.size)
        kept = len(self.pending) - stored_count(self.records) + stored_count(end.tree.size)
        del self.pending[kept:]
        self.end, self.undo, self.must_reload = end, None, False

    def close(self) -> None:
        """Close the files."""
        for file in (self.file, self.hashes, self.notes, self.mark):
            file.close()
