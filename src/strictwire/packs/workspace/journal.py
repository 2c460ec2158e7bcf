"""Journals of change sets: what to undo if the process dies halfway. Kept in the state folder of the pack.

A journal is written before the first change and deleted after the last one. Deleting it commits the set. Its file is locked
while it is in use, so a journal that can be locked belongs to a process that died.
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

from strictwire.canon.json import render
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, RootRefused
from strictwire.packs.kit.path import parse_path
from strictwire.packs.workspace.content import MAX_FILE, sha256_of
from strictwire.packs.workspace.file_operations import remove_file, replace_file
from strictwire.packs.workspace.path_locks import PathLocks
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.state_files import read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalStep:
    """One path of a change set: old and new content by hash; None if there is no file."""

    path: str
    aside: str | None
    """Temporary second name of the old file. It exists until the set is committed or undone."""
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Journal:
    """The content of a journal. It is complete: a journal gets its name only after all of it is on disk."""

    root: str
    identity: tuple[int, int]
    steps: tuple[JournalStep, ...]


class PinnedFolder(Protocol):
    """The folder that a change set belongs to: a session."""

    @property
    def root(self) -> str:
        """Absolute path with links resolved."""

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the folder."""

    @property
    def jail(self) -> Jail:
        """The jail on this folder."""


class Journals:
    """See the module docstring."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def writing(self, folder: PinnedFolder, steps: list[JournalStep]) -> Iterator[None]:
        """Keep a journal while the block changes files. If the block raises, the set is undone.

        Raises OSError; Refused: INVARIANT_VIOLATION if it cannot be undone. The journal is then kept for the next start.
        """
        path = self._folder / f"{secrets.token_hex(16)}.json"
        with _locked_file(path.with_suffix(".draft")) as file:
            members = {"root": folder.root, "identity": list(folder.identity), "steps": [asdict(step) for step in steps]}
            file.write(render(members))
            file.flush()
            os.fsync(file.fileno())
            path.with_suffix(".draft").rename(path)
            self._sync()
            try:
                yield
            except BaseException:
                _undo_or_refuse(folder.jail, steps)
                self._remove(path)
                raise
            self._remove(path)

    def recover(self, path_locks: PathLocks, *, only: tuple[int, int] | None = None) -> int:
        """Undo the change sets of dead processes, in all folders or in one. Returns how many were undone.

        If a folder is no longer at its path, its journal is kept. Raises Refused, OSError if a set cannot be undone.
        """
        done = 0
        for path in sorted(self._folder.glob("*.json")):
            with suppress(FileNotFoundError):
                done += self._recover(path, path_locks, only)
        return done

    def _recover(self, path: Path, path_locks: PathLocks, only: tuple[int, int] | None) -> int:
        # Without O_NONBLOCK, opening a pipe at this place would block.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return 0
            found = read_state(path, _Journal)
            if only not in (None, found.identity):
                return 0
            with path_locks.hold(found.root, *(step.path for step in found.steps)):
                is_done = _undo_by_name(found.root, found.identity, list(found.steps))
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


def _undo_by_name(root: str, identity: tuple[int, int], steps: list[JournalStep]) -> bool:
    """Undo a set. Returns False if the folder is no longer at its path."""
    try:
        jail = Jail(root)
    except RootRefused:
        return False
    with jail:
        if jail.stat(".").identity != identity:
            return False
        _undo_or_refuse(jail, steps)
        return True


def _undo_or_refuse(jail: Jail, steps: list[JournalStep]) -> None:
    try:
        undo(jail, steps)
    except Refused as exc:
        text = "A failed change set could not be undone"
        raise refuse("INVARIANT_VIOLATION", text, "restore", invariant_id="WRITE_ATOMIC") from exc


def undo(jail: Jail, steps: list[JournalStep]) -> None:
    """Restore every path, except those that someone else has changed since. Raises Refused if a path cannot be restored."""
    for step in reversed(steps):
        _undo(jail, step)


def _undo(jail: Jail, step: JournalStep) -> None:
    path = parse_path(step.path)
    aside = None if step.aside is None else parse_path(step.aside)
    is_ours = maybe_hash(jail, step.path) == step.new
    if step.aside is not None and aside is not None and maybe_hash(jail, step.aside) is not None:
        if is_ours:
            replace_file(jail, aside, path)
        # Still there if both are names of one file, because POSIX rename does nothing then; or if someone else has changed
        # the file, which is kept as it is.
        with suppress(Refused):
            remove_file(jail, aside)
    elif is_ours and step.old is None and step.new is not None:
        remove_file(jail, path)


def maybe_hash(jail: Jail, path: str) -> str | None:
    """Return the hash of a file; None if it is absent or cannot be read."""
    try:
        return sha256_of(jail.read(path, limit=MAX_FILE))
    except Refused:
        return None
