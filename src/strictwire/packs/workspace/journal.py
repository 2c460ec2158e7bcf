"""Journals of change sets: what has to be undone if the process dies in the middle. Kept in the state folder of the pack.

A journal is written before the first change and removed after the last; its removal is the moment at which the set stands.
While it is used its file is locked, so a journal that can be locked belongs to a process that died.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Protocol

from strictwire.canon.json import parse_object, render
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, RootRefused
from strictwire.packs.kit.path import parse_path
from strictwire.packs.workspace.content import MAX_FILE, sha256_of
from strictwire.packs.workspace.latch import Latches
from strictwire.packs.workspace.names import remove_file, replace_file
from strictwire.packs.workspace.refusal import refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One path of a set: what it was and what it becomes, by hash; None where there is no file."""

    path: str
    aside: str | None
    """A second name of the old file, from before the change until the set stands or is undone."""
    old: str | None
    new: str | None


class Pinned(Protocol):
    """The folder a set is for: a session."""

    @property
    def root(self) -> str:
        """Absolute, links resolved."""

    @property
    def identity(self) -> tuple[int, int]:
        """Device and number of the folder."""

    @property
    def jail(self) -> Jail:
        """The same folder, pinned."""


class Journals:
    """See the module."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def writing(self, home: Pinned, steps: list[Step]) -> Iterator[None]:
        """Keep a journal while a set is made; if the block ends with an error, the set is undone.

        Raises OSError; Refused: INVARIANT_VIOLATION it cannot be undone. Then the journal stays, for the next start.
        """
        path = self._folder / f"{secrets.token_hex(16)}.json"
        with _locked_file(path.with_suffix(".draft")) as file:
            members = {"root": home.root, "identity": list(home.identity), "steps": [asdict(step) for step in steps]}
            file.write(render(members))
            file.flush()
            os.fsync(file.fileno())
            path.with_suffix(".draft").rename(path)
            self._sync()
            try:
                yield
            except BaseException:
                _undo_or_tell(home.jail, steps)
                self._remove(path)
                raise
            self._remove(path)

    def recover(self, latches: Latches, *, only: tuple[int, int] | None = None) -> int:
        """Undo the sets of processes that died, of all folders or of one; how many there were.

        A set whose folder is not where it was stays in its journal. Raises Refused, OSError: one cannot be undone.
        """
        done = 0
        for path in sorted(self._folder.glob("*.json")):
            with suppress(FileNotFoundError):
                done += self._recover(path, latches, only)
        return done

    def _recover(self, path: Path, latches: Latches, only: tuple[int, int] | None) -> int:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return 0
            root, identity, steps = _read_journal(file.read())
            if only not in (None, identity):
                return 0
            with latches.hold(identity, *(step.path for step in steps)):
                is_done = _undo_by_name(root, identity, steps)
            if is_done:
                self._remove(path)
        return int(is_done)

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._sync()

    def _sync(self) -> None:
        handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _locked_file(path: Path) -> Iterator[IO[bytes]]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield file


def _undo_by_name(root: str, identity: tuple[int, int], steps: list[Step]) -> bool:
    """Whether the folder was still there, and the set is undone."""
    try:
        jail = Jail(root)
    except RootRefused:
        return False
    with jail:
        if jail.stat(".").identity != identity:
            return False
        _undo_or_tell(jail, steps)
        return True


def _undo_or_tell(jail: Jail, steps: list[Step]) -> None:
    try:
        undo(jail, steps)
    except Refused as exc:
        text = "A change set that did not succeed could not be undone"
        raise refuse("INVARIANT_VIOLATION", text, "restore", invariant_id="WRITE_ATOMIC") from exc


def _read_journal(raw: bytes) -> tuple[str, tuple[int, int], list[Step]]:
    """A journal gets its name only when all of it is on the disk, so what stands under such a name is whole."""
    found = parse_object(raw)
    device, number = found["identity"]
    return found["root"], (device, number), [Step(**each) for each in found["steps"]]


def undo(jail: Jail, steps: list[Step]) -> None:
    """Make every path what it was, unless someone has changed it since. Raises Refused: a path cannot be restored."""
    for step in reversed(steps):
        _undo(jail, step)


def _undo(jail: Jail, step: Step) -> None:
    path = parse_path(step.path)
    aside = None if step.aside is None else parse_path(step.aside)
    is_ours = maybe_hash(jail, step.path) == step.new
    if step.aside is not None and aside is not None and maybe_hash(jail, step.aside) is not None:
        if is_ours:
            replace_file(jail, aside, path)
        # Two names of one file are not renamed by POSIX, and someone else's change is left alone.
        with suppress(Refused):
            remove_file(jail, aside)
    elif is_ours and step.old is None and step.new is not None:
        remove_file(jail, path)


def maybe_hash(jail: Jail, path: str) -> str | None:
    """The hash of a file; None if it is not there or not a file that can be read."""
    try:
        return sha256_of(jail.read(path, limit=MAX_FILE))
    except Refused:
        return None
