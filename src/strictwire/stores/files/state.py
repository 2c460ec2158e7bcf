"""The end of a log as its writer knows it: all that the next record needs, however long the log is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from strictwire.audit.chain import Sealed, maybe_leaf
from strictwire.audit.merkle import HASH_BYTES, Frontier, stored_count
from strictwire.stores.files.disk import Look, OpenFile
from strictwire.stores.files.layout import read_lines

FRESH_RECORDS: Final = 256
"""Records whose hashes are stored together, when nobody waits."""

MAX_FRESH: Final = 1024
"""Records whose hashes are not stored yet, at most: beyond it a commit stores them."""


@dataclass(slots=True, kw_only=True)
class Tail:
    """The end of a log as its writer knows it."""

    file: OpenFile
    hashes: OpenFile
    first: int
    """The first record of the newest file."""
    size: int
    """Bytes of the newest file."""
    tree: Frontier
    """Over the records whose hashes are stored."""
    fresh: list[bytes]
    """The leaf hashes of those behind them."""
    head: bytes
    """Hash of the last record."""
    signed: int
    """Records that a checkpoint vouches for."""

    @property
    def records(self) -> int:
        """How many there are, from the first of the log on."""
        return self.tree.size + len(self.fresh)

    def matches(self, found: Look | None) -> bool:
        """Whether the newest file is the one we know, and as long as we know it."""
        return found is not None and found.size == self.size and found.ident == self.file.ident

    def grow(self, sealed: Sealed) -> None:
        """The sealed records were written."""
        self.fresh += sealed.leaves
        self.head = sealed.leaves[-1]
        self.size += len(sealed.lines)

    def take_in(self, end: int) -> None:
        """Take in the records that another process wrote, up to a place or to what is no record."""
        for line in read_lines(self.file, self.size, end):
            leaf = maybe_leaf(line, seq=self.records, prev=self.head)
            if leaf is None:
                return
            if len(self.fresh) >= MAX_FRESH:
                self.store_hashes()
            self.fresh.append(leaf)
            self.head = leaf
            self.size += len(line)

    def store_hashes(self) -> None:
        """Take the fresh records into the tree. Only proofs need that, and they begin at a checkpoint; a start makes
        hashes that a crash has lost again from the records."""
        if self.fresh:
            tree = self.tree.copy()
            known = tree.extend(self.fresh)
            self.hashes.write(stored_count(self.tree.size) * HASH_BYTES, known)
            self.tree, self.fresh = tree, []

    def begin(self, file: OpenFile) -> None:
        """The newest file became an older one; go on in a new one."""
        self.file.close()
        self.file, self.first, self.size = file, self.records, 0

    def close(self) -> None:
        """Give the files back."""
        self.file.close()
        self.hashes.close()
