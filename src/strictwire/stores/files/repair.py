"""Continues a log that was tampered with. Run by a person, recorded and signed; nothing is deleted.

What verifies is kept: a bad end after the last checkpoint is cut off and set aside, and so are files that do not belong to
the log. If signed records or checkpoints are damaged, everything is set aside, and the log goes on from the anchor beside
the key: the next record has the next number and names the hash of the last trusted one, so earlier proofs still hold.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from strictwire.audit.chain import GENESIS
from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import Repair, render_body
from strictwire.audit.merkle import HASH_BYTES, Frontier, perfect_parts, stored_index
from strictwire.audit.verify import Finding, Reason, Verdict
from strictwire.stores.fault import DAMAGED, LogFault, mapped_errors
from strictwire.stores.files.anchor import Anchor, anchor_of, boot_id, parse_anchor, render_mark
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import FOLDER_MODE, FolderDisk, make_folder, replace_file
from strictwire.stores.files.evidence import read_evidence
from strictwire.stores.files.inventory import DAMAGED_FOLDER, OURS
from strictwire.stores.files.keys import load_or_make_key
from strictwire.stores.files.layout import ACTIVE, CHECKPOINTS, HASHES, read_first, read_lines
from strictwire.stores.files.lock import LOCK_NAME, FolderLock
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock

MAX_ROUNDS: Final = 100
"""Each round sets one file aside, or ends the repair."""

MAX_REASON: Final = 500
"""Characters of a reason in the record."""

_ABOUT_RECORDS: Final = frozenset(
    {
        Reason.NOT_A_RECORD,
        Reason.DUPLICATE_KEY,
        Reason.REFORMATTED,
        Reason.MISSING,
        Reason.REPEATED,
        Reason.EDITED,
        Reason.NOT_AUTHENTIC,
        Reason.TRUNCATED,
    }
)
"""Findings about records. After the last checkpoint, a cut removes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair did."""

    finding: str
    kept_as: str
    """The folder with what was set aside; empty if nothing was."""
    next: int
    """The number of the repair record."""


def repair_trail(config: TrailConfig, *, principal: str, reason: str, clock: Clock = SYSTEM_CLOCK) -> Repaired | None:
    """Continue a log with a finding; None if there is nothing to repair. Raises LogFault.

    `principal` and `reason` are recorded.
    """
    with mapped_errors():
        make_folder(config.folder)
        key = load_or_make_key(config.key_path, log_folder=config.folder).for_log(config.log)
        with closing(FolderLock(config.folder, patience=config.lock_seconds)) as lock:
            lock.acquire()
            try:
                mending = _Mending(config, key)
                finding = mending.mend()
            finally:
                lock.release()
    if finding is None:
        return None
    with closing(open_writer(config, clock)) as writer, writer.exclusively() as state:
        event = Repair(
            timestamp=clock.stamp(),
            principal=principal,
            reason=reason[:MAX_REASON],
            finding=finding,
            kept_as=mending.kept_as,
            trusted=mending.trusted,
        )
        number = state.records
        writer.append_signed(state, [render_body(event)])
    return Repaired(finding=finding, kept_as=mending.kept_as, next=number)


class _Mending:
    """One repair, until the log can be opened again."""

    def __init__(self, config: TrailConfig, key: SigningKey) -> None:
        self._config = config
        self._disk = FolderDisk(config.folder)
        self._key = key
        self._anchor = self._read_anchor()
        self.trusted = 0 if self._anchor is None else self._anchor[1].size
        self.kept_as = ""

    def mend(self) -> str | None:
        """Set aside what does not verify. Returns the first finding, or None."""
        first: Finding | None = None
        for _ in range(MAX_ROUNDS):
            verdict = self._verify()
            if verdict.finding is None:
                return None if first is None else str(first)
            first = first or verdict.finding
            if not self._keep_the_rest(verdict, verdict.finding):
                self._start_anew()
                return str(first)
        raise LogFault(DAMAGED, detail="it changes while it is repaired")

    def _keep_the_rest(self, verdict: Verdict, finding: Finding) -> bool:
        """Set aside only what the finding is about; False if signed records or checkpoints are damaged."""
        good = min(finding.record, verdict.size)
        if finding.reason is Reason.UNEXPECTED_FILE:
            self._set_aside(finding.name)
        elif finding.reason in _ABOUT_RECORDS and good >= self.trusted and self._is_in_active(good):
            return self._cut(good) or finding.reason is Reason.TRUNCATED
        else:
            return False
        return True

    def _verify(self) -> Verdict:
        key = self._key.public
        return verify_trail(self._config.folder, key, evidence=read_evidence(self._config, key))

    def _read_anchor(self) -> tuple[Anchor, Checkpoint] | None:
        found = [parse_anchor(path.read_bytes()) for path in self._config.anchor_paths if path.is_file()]
        pairs = [(anchor, anchor.checkpoint(self._key.public)) for anchor in found]
        return max(pairs, key=lambda pair: (pair[1].size, pair[1].number), default=None)

    def _is_in_active(self, record: int) -> bool:
        first = read_first(self._disk, ACTIVE)
        return first is not None and first <= record

    def _set_aside(self, name: str) -> None:
        (self._config.folder / name).rename(self._aside() / name)
        self._disk.sync()

    def _aside(self) -> Path:
        """The folder for what is set aside, made with its first file."""
        if not self.kept_as:
            taken = [name for name in self._disk.names() if name.startswith(DAMAGED_FOLDER)]
            self.kept_as = f"{DAMAGED_FOLDER}{len(taken) + 1:03d}"
            (self._config.folder / self.kept_as).mkdir(mode=FOLDER_MODE)
        return self._config.folder / self.kept_as

    def _cut(self, good: int) -> bool:
        """End the log after `good` records. Returns whether there was anything to cut."""
        with closing(self._disk.open(ACTIVE)) as file:
            first = read_first(self._disk, ACTIVE) or 0
            size = sum(len(line) for line in islice(read_lines(file), good - first))
            rest = file.read(size, max(0, file.size() - size))
            if rest:
                replace_file(FolderDisk(self._aside()), f"{ACTIVE}.end", rest)
            file.truncate(size)
            file.sync()
        self._write_mark(good)
        return bool(rest)

    def _start_anew(self) -> None:
        """Set everything aside and continue the tree from the anchor."""
        for name in self._disk.names():
            if name.startswith(OURS) and name != LOCK_NAME and not name.startswith(DAMAGED_FOLDER):
                self._set_aside(name)
        tree, head, number = self._trusted_tree()
        with closing(self._disk.open(HASHES, create=True)) as hashes:
            for (level, start), peak in zip(perfect_parts(tree.size), tree.peaks, strict=True):
                hashes.write(stored_index(level, start >> level) * HASH_BYTES, peak)
            if tree.size:
                hashes.write(stored_index(0, tree.size - 1) * HASH_BYTES, head)
            hashes.sync()
        checkpoint = self._key.sign(size=tree.size, root=tree.root(), number=number + 1, first=tree.size, begins=True)
        self.trusted = tree.size
        self._write_mark(tree.size)
        replace_file(self._disk, CHECKPOINTS, checkpoint.note)
        anchor = anchor_of(checkpoint, tree=tree, head=head, note_end=len(checkpoint.note)).render()
        for path in self._config.anchor_paths:
            replace_file(FolderDisk(path.parent), path.name, anchor)

    def _trusted_tree(self) -> tuple[Frontier, bytes, int]:
        """The tree under the anchor, the hash of its last record, and the number of the checkpoint."""
        if self._anchor is None:
            return Frontier(), GENESIS, 0
        anchor, checkpoint = self._anchor
        tree = anchor.frontier(checkpoint.size)
        if tree is None or tree.root() != checkpoint.root:
            return Frontier(), GENESIS, checkpoint.number
        return tree, bytes.fromhex(anchor.head), checkpoint.number

    def _write_mark(self, records: int) -> None:
        path = self._config.mark_path
        replace_file(FolderDisk(path.parent), path.name, render_mark(boot_id().encode(), records, records))
