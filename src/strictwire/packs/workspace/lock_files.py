"""Locks of callers, one file each in the state folder. They hold after a restart and in every server that shares the folder.

A lock belongs to a principal and a role, and covers a folder with everything in it: a session of the same caller whose root
is that folder, inside it, or around it is locked. If the folder is replaced by another one, the lock goes with it. The files
are read for every check, because another process may have written one; a caller that has failed nowhere has none.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.packs.kit.path import is_within
from strictwire.packs.workspace.state_files import read_state, sync_folder, write_draft

_SUFFIX: Final = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Why a session is locked until a failure report is written."""

    code: str
    tool: str
    session_id: str
    """The session in which it happened; the report must name it."""
    at: str

    def as_json(self) -> JsonObject:
        """Return the member `lock` of an answer."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose lock it is, and where."""

    principal: str
    role: str
    root: str
    """Absolute path with links resolved."""
    identity: tuple[int, int]
    """Device and inode of the root, which stay the same if the folder is renamed."""

    def covers(self, other: Owner) -> bool:
        """Return whether a lock of this owner applies to a session of the other."""
        if (self.principal, self.role) != (other.principal, other.role):
            return False
        overlaps = is_within(self.root, other.root) or is_within(other.root, self.root)
        return self.identity == other.identity or (overlaps and self._is_in_place())

    def _is_in_place(self) -> bool:
        """Return whether the folder is still at its path. Device numbers may differ after a reboot, inodes do not."""
        try:
            return os.stat(self.root, follow_symlinks=False).st_ino == self.identity[1]
        except OSError:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _LockFile:
    owner: Owner
    lock: Lock


class LockFiles:
    """See the module docstring. Every method raises OSError, and StateDamaged if a file cannot be parsed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, owner: Owner, lock: Lock) -> None:
        """Write a lock durably. If the caller is locked already, the first lock stays."""
        if self.maybe_find(owner) is not None:
            return
        path = self._path(owner)
        content = {"owner": asdict(owner) | {"identity": list(owner.identity)}, "lock": asdict(lock)}
        draft = write_draft(path.parent, render(content))
        # A hard link fails if the name exists: of two locks at once, the first one stays.
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
        sync_folder(path.parent)

    def remove(self, owner: Owner) -> None:
        """Remove the lock that `maybe_find` returns."""
        for path, found, _ in self._read(self._path(owner).parent):
            if found.covers(owner):
                path.unlink(missing_ok=True)
                sync_folder(path.parent)
                return

    def maybe_find(self, owner: Owner) -> Lock | None:
        """Return the first lock that applies to a caller in a folder, or None."""
        found = self._read(self._path(owner).parent)
        return next((lock for _, each, lock in found if each.covers(owner)), None)

    def in_folder(self, root: str) -> list[tuple[Owner, Lock]]:
        """Return the locks of all callers on this folder."""
        return [(owner, lock) for owner, lock in self._all() if owner.root == root]

    def check(self) -> None:
        """Read all locks, so that a damaged one is noticed when the server starts."""
        list(self._all())

    def _all(self) -> Iterator[tuple[Owner, Lock]]:
        for caller in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            yield from ((owner, lock) for _, owner, lock in self._read(caller))

    def _read(self, caller: Path) -> Iterator[tuple[Path, Owner, Lock]]:
        try:
            names = sorted(name for name in os.listdir(caller) if name.endswith(_SUFFIX))
        except FileNotFoundError:
            return
        for name in names:
            with suppress(FileNotFoundError):
                yield caller / name, *_parse(caller / name)

    def _path(self, owner: Owner) -> Path:
        """Return the path of a lock. Each caller has its own folder, so that many locks of one do not slow down others."""
        return self._folder / _digest(f"{owner.role} {owner.principal}") / f"{_digest(owner.root)}{_SUFFIX}"


def _parse(path: Path) -> tuple[Owner, Lock]:
    found = read_state(path, _LockFile)
    return found.owner, found.lock


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
