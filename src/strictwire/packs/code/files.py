"""The files of the roots: which there are, and what changed since someone last asked. Kept current by the file watch.

`refresh` is called before every answer. Consumers (the word index, each engine) hold a `Feed`, which collects what
changed for them until they take it. Symbolic links are not followed; ignored files are not in the list.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Final

from strictwire.packs.kit.ignore import IGNORE_FILES, NO_RULES, Rules, is_environment
from strictwire.packs.kit.watch import Change, Watch, identity

MAX_FILES: Final = 500_000
"""Files in the list. A checkout of the Linux kernel has 90,000; beyond this the list says that it is capped."""


MAX_FOLDER_CHANGES: Final = 32
"""Folders that come and go at once before everything is scanned again, which takes as long: 0.2 s for Django."""


class FileChange(IntEnum):
    """What happened to a file, with the numbers of LSP's FileChangeType."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


@dataclass(slots=True)
class Feed:
    """Changes for one consumer since it last took them."""

    below: str = "/"
    """Only files below this folder, which ends with a slash."""
    _pending: dict[str, FileChange] = field(default_factory=dict)

    def put(self, path: str, change: FileChange) -> None:
        """Add a change. A file that was deleted and created again has changed."""
        if not path.startswith(self.below):
            return
        before = self._pending.get(path)
        if before is FileChange.DELETED and change is FileChange.CREATED:
            change = FileChange.CHANGED
        elif before is FileChange.CREATED and change is FileChange.CHANGED:
            change = FileChange.CREATED
        self._pending[path] = change

    def take(self) -> dict[str, FileChange]:
        """Everything since the last time."""
        taken, self._pending = self._pending, {}
        return taken


@dataclass(slots=True)
class _Scan:
    """What a walk found: file to stamp, and folder to the rules inside it."""

    files: dict[str, int] = field(default_factory=dict)
    folders: dict[str, Rules] = field(default_factory=dict)


class Files:
    """See the module. Not for several threads at once; `scan` may run in another thread before the first use."""

    def __init__(self, roots: tuple[Path, ...], watch: Watch, *, max_files: int = MAX_FILES) -> None:
        self.roots = roots
        self.text = 0
        """Counts contents that changed."""
        self.fs = 0
        """Counts files that were created, deleted or renamed."""
        self.root_changes = 0
        """Counts roots that were replaced, disappeared or came back."""
        self.capped = False
        """There are more files than the list may hold."""
        self._watch = watch
        self._max_files = max_files
        self._files: dict[str, int] = {}
        self._folders: dict[str, Rules] = {}
        self._identities: dict[Path, tuple[int, int] | None] = {}
        self._feeds: list[Feed] = []
        self._sorted: tuple[str, ...] | None = None

    def subscribe(self, below: Path | None = None) -> Feed:
        """A feed of every change from now on, in one folder or anywhere."""
        feed = Feed() if below is None else Feed(below=f"{below}/")
        self._feeds.append(feed)
        return feed

    def unsubscribe(self, feed: Feed) -> None:
        """End a feed."""
        self._feeds.remove(feed)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file, sorted."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self._files))
        return self._sorted

    def holds(self, path: str) -> bool:
        """Whether a file is in the list."""
        return path in self._files

    def refresh(self) -> None:
        """Take in every change that was made before this call."""
        if not self._identities:
            self.scan()
            self.fs = 0  # the counters of two lives over the same files are equal
            return
        if any(_maybe_identity(root) != self._identities.get(root) for root in self.roots):
            self.root_changes += 1
            self.scan()
            return
        drained = self._watch.drain()
        if drained.overflow or _needs_scan(drained.changes):
            self.scan()
        elif drained.changes:
            self._apply(drained.changes)

    def scan(self) -> None:
        """Walk every root again and find the differences."""
        self._watch.drain()
        for folder in self.roots:
            self._watch.remove(folder)
        found = _Scan()
        for root in self.roots:
            self._identities[root] = _maybe_identity(root)
            self._walk(str(root), NO_RULES, found)
        self._folders = found.folders
        self._replace(dict(self._files), found.files)

    def _apply(self, changes: tuple[Change, ...]) -> None:
        for path, is_folder in {str(each.path): each.is_folder for each in changes}.items():
            if is_folder:
                self._look_at_folder(path)
            else:
                self._look_at_file(path)

    def _look_at_file(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        rules = self._folders.get(folder)
        if rules is None or rules.ignores(path, is_folder=False):
            return
        stamp = _maybe_stamp(path)
        if stamp is None:
            self._replace({path: 0} if path in self._files else {}, {})
        elif path in self._files:
            # Counted even if the stamp is the same: two writes within one tick of the clock leave equal times.
            self._files[path] = stamp
            self._count(path, FileChange.CHANGED)
        elif not self._is_full():
            self._replace({}, {path: stamp})

    def _look_at_folder(self, path: str) -> None:
        """A folder appeared, vanished or was replaced: forget it and walk what is there now."""
        self._watch.remove(Path(path))
        below = path + "/"
        before = {each: stamp for each, stamp in self._files.items() if each.startswith(below)}
        for each in [each for each in self._folders if each == path or each.startswith(below)]:
            del self._folders[each]
        found = _Scan()
        rules = self._folders.get(path.rpartition("/")[0])
        if rules is not None and not rules.ignores(path, is_folder=True):
            self._walk(path, rules, found)
        self._folders.update(found.folders)
        self._replace(before, found.files)

    def _walk(self, top: str, rules: Rules, found: _Scan) -> None:
        waiting = [(top, rules)]
        while waiting:
            folder, outer = waiting.pop()
            if folder in found.folders:
                continue  # one root inside another
            try:
                self._watch.add(Path(folder))  # before it is listed, so that nothing falls in between
                with os.scandir(folder) as entries:
                    names = {entry.name: entry for entry in entries}
            except OSError:
                continue  # deleted meanwhile, or not readable
            if is_environment(names):
                self._watch.remove(Path(folder))
                continue
            inner = outer.enter(folder, names)
            found.folders[folder] = inner
            for entry in names.values():
                self._sort_entry(entry, inner, found, waiting)

    def _sort_entry(self, entry: os.DirEntry[str], rules: Rules, found: _Scan, waiting: list[tuple[str, Rules]]) -> None:
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.is_file(follow_symlinks=False):
                return
            if rules.ignores(entry.path, is_folder=is_folder):
                return
            if is_folder:
                waiting.append((entry.path, rules))
            elif len(found.files) < self._max_files:
                found.files[entry.path] = _stamp(entry.stat(follow_symlinks=False))
            else:
                self.capped = True
        except OSError:
            return  # deleted since it was listed

    def _replace(self, before: dict[str, int], now: dict[str, int]) -> None:
        """Turn what is known of some paths into what is there now."""
        for path in before.keys() - now.keys():
            del self._files[path]
            self._count(path, FileChange.DELETED)
        for path, stamp in now.items():
            if path not in before:
                self._count(path, FileChange.CREATED)
            elif before[path] != stamp:
                self._count(path, FileChange.CHANGED)
            self._files[path] = stamp

    def _count(self, path: str, change: FileChange) -> None:
        if change is FileChange.CHANGED:
            self.text += 1
        else:
            self.fs += 1
            self._sorted = None
        for feed in self._feeds:
            feed.put(path, change)

    def _is_full(self) -> bool:
        self.capped = self.capped or len(self._files) >= self._max_files
        return self.capped


def _needs_scan(changes: tuple[Change, ...]) -> bool:
    """Whether the rules changed, or so many folders that looking at each takes longer than at all of them."""
    rules = any(change.name in IGNORE_FILES for change in changes)
    return rules or sum(change.is_folder for change in changes) > MAX_FOLDER_CHANGES


def _stamp(status: os.stat_result) -> int:
    return hash((status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _maybe_stamp(path: str) -> int | None:
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return _stamp(status) if stat.S_ISREG(status.st_mode) else None


def _maybe_identity(root: Path) -> tuple[int, int] | None:
    try:
        return identity(root)
    except OSError:
        return None
