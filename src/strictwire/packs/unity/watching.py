"""Watches the folders of a project, so that an unchanged project costs one system call and not a walk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Final

from strictwire.packs.kit.watch import ChangeKind, Watch
from strictwire.packs.unity.project.walk import is_ignored

MAX_FOLDERS: Final = 50_000
"""Folders that are watched. Beyond, every call compares the files instead."""

_OWN: Final = ("Assets", "Packages", "ProjectSettings")
_CACHE: Final = "Library/PackageCache"


class ProjectWatch:
    """Tells whether a project may have changed. Any thread may call.

    A folder is watched before it is listed, so nothing that happens while a project is read is missed.
    """

    def __init__(self, root: Path, *, watch: Watch | None = None) -> None:
        self._watch = watch or Watch()
        self._seen: set[tuple[int, int]] = set()
        self._is_full = False
        self._is_new = False
        self.changes = 0
        """How often something happened."""
        self._lock = Lock()
        self._add_one(root)
        self._add_one(root / _CACHE)
        self.add_trees(root / name for name in _OWN)

    def add_trees(self, folders: Iterable[Path]) -> None:
        """Watch folders and everything below them. They may have changed before that."""
        waiting = list(folders)
        self._is_new = True
        while waiting and not self._is_full:
            folder = waiting.pop()
            if self._add_one(folder):
                waiting += _folders_in(folder)

    def has_changed(self) -> bool:
        """Whether anything happened since the last call."""
        with self._lock:
            drained = self._watch.drain()
            appeared = [each.path for each in drained.changes if each.is_folder and each.kind is ChangeKind.APPEARED]
            if appeared:
                self._seen.clear()  # a folder that was moved keeps its identity and needs a watch under its new name
                self.add_trees(appeared)
            is_new, self._is_new = self._is_new, False
            has_changed = is_new or self._is_full or drained.overflow or bool(drained.changes)
            self.changes += has_changed
            return has_changed

    def close(self) -> None:
        """Let go of every folder."""
        self._watch.close()

    def _add_one(self, folder: Path) -> bool:
        """False if the folder is not there, is watched already, or is one too many."""
        try:
            status = folder.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in self._seen:
                return False
            if len(self._seen) >= MAX_FOLDERS:
                self._is_full = True
                return False
            self._watch.add(folder)
        except OSError:
            return False
        self._seen.add(identity)
        return True


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [folder / entry.name for entry in entries if not is_ignored(entry.name) and entry.is_dir()]
    except OSError:
        return []
