"""Finds the protected files and folders of a workspace on the disk, and refuses changes to them.

`Protection` is the guard of the session's jail: it is asked for every folder in which a name is about to be changed, with
the folder already open, so a tool cannot forget it and nothing can be swapped after the check. A folder is recognised by its
device and inode and by what is above it, up to the top of the file system:

names        `.git`, `.strictwire`, settings and logs, in the absolute path
identity     the reserved folders of this workspace and of every workspace around it, by whatever path they are reached
repository   a folder that git would use as a repository, whatever its name
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.protected_paths import (
    RESERVED,
    is_inside,
    is_own_name,
    is_plan_file,
    is_protected,
    is_temporary,
)
from strictwire.packs.workspace.refusal import refuse

MAX_SCANNED: Final = 2_000_000
"""Most names in a workspace that are scanned for protected ones: a few seconds."""

MAX_PINS: Final = 4096
"""Most protected paths in one workspace. Each is a mount for a verification command."""

_MAX_PLAN_NAMES: Final = 10_000

Identity = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """The protected paths that exist in a workspace, relative to its root."""

    marks: Mapping[str, tuple[int, ...]]
    """Path to what must not change about it. For a folder: what it is, not what is in it."""
    temporary: tuple[str, ...]
    """Temporary files of unfinished writes. They come and go with other calls."""

    @property
    def pins(self) -> tuple[str, ...]:
        """Everything that a verification command must not change."""
        return (*self.marks, *self.temporary)


class Protection:
    """The guard of one workspace. See the module docstring."""

    def __init__(self, root: str) -> None:
        """`root` is an absolute path with links resolved."""
        self._root = root
        self._names = tuple(part for part in root.split("/") if part)

    def check_folder(self, handle: int, path: JailPath) -> None:
        """Raises Refused: PLAN_SCOPE_VIOLATION if nothing in this open folder may be changed."""
        names = (*self._names, *path.segments)
        if is_inside(names, lambda depth: self._is_workspace(names[:depth])) or self._is_around(handle):
            raise protected()

    def check_name(self, name: str) -> None:
        """Raises Refused: PLAN_SCOPE_VIOLATION if no file of this name may be changed."""
        if is_own_name(name):
            raise protected()

    def covers(self, path: JailPath) -> bool:
        """Return whether a path is protected by its place, whether or not it exists."""
        names = (*self._names, *path.segments)
        return is_protected(names, lambda depth: self._is_workspace(names[:depth]))

    def find_root_problem(self, handle: int, *, private: Iterable[Path]) -> str | None:
        """Return why the root, which is open, cannot be used; None if it can. `private` are the server's keys and logs."""
        if is_inside(self._names, lambda depth: self._is_workspace(self._names[:depth])) or self._is_around(handle):
            return "workspace_root is inside a protected folder; choose the folder of the project"
        if any(_overlaps(handle, path) for path in private):
            return "workspace_root contains keys or logs of this server, or is among them; choose the folder of the project"
        return None

    def scan(self) -> Protected:
        """Return the protected paths that exist now. Raises Refused: PREFLIGHT_FAILED if there are too many files."""
        marks: dict[str, tuple[int, ...]] = {}
        temporary: list[str] = []
        for path in self._reserved_inside():
            marks |= _maybe_mark(self._root, path)
        for path in _walk(self._root):
            if is_temporary(os.path.basename(path)):
                temporary.append(path)
            else:
                marks |= _maybe_mark(self._root, path)
        if len(marks) + len(temporary) > MAX_PINS:
            raise _too_large(f"{MAX_PINS} repositories and other protected paths")
        return Protected(marks=marks, temporary=tuple(temporary))

    def _is_around(self, handle: int) -> bool:
        """Return whether an open folder is inside a reserved folder of a workspace around it, or inside a repository."""
        reserved = {each for top in self._workspaces_above() for each in _reserved_identities(top)}
        is_in_work_tree = False
        for here, names in _folders_above(os.dup(handle)):
            if here in reserved or (names.is_repository and not is_in_work_tree):
                return True
            # The work tree of a repository may be inside the folder of the repository.
            is_in_work_tree = is_in_work_tree or names.is_work_tree
        return False

    def _workspaces_above(self) -> Iterator[str]:
        yield self._root
        for depth in range(len(self._names)):
            top = "/" + "/".join(self._names[:depth])
            if _looks_like_workspace(top):
                yield top

    def _reserved_inside(self) -> Iterator[str]:
        """Yield the reserved folders of this workspace and of those around it that are below the root."""
        for top in self._workspaces_above():
            for folder in RESERVED:
                path = os.path.join(top, *folder)
                if path.startswith(self._root.rstrip("/") + "/"):
                    yield os.path.relpath(path, self._root)

    def _is_workspace(self, names: tuple[str, ...]) -> bool:
        return names == self._names or _looks_like_workspace("/" + "/".join(names))


def set_aside(root: int, path: str) -> str | None:
    """Rename whatever is at a path below an open root to a temporary name beside it. Follows no link, and takes names that
    are not UTF-8. Returns the new name; None if it is gone."""
    *folders, name = path.split("/")
    aside = f"{TEMPORARY}{secrets.token_hex(8)}"
    handle = os.dup(root)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle = below
        os.rename(name, aside, src_dir_fd=handle, dst_dir_fd=handle)
        os.fsync(handle)
    except (FileNotFoundError, NotADirectoryError):
        return None
    finally:
        os.close(handle)
    return aside


def protected() -> Refused:
    """Return the refusal of a change to a protected path."""
    return refuse("PLAN_SCOPE_VIOLATION", "Plans, reports, logs and strictwire's own files cannot be written", "guarded")


def _too_large(what: str) -> Refused:
    return refuse("PREFLIGHT_FAILED", f"The workspace has more than {what}; verification cannot protect it", "too_large")


def _looks_like_workspace(folder: str) -> bool:
    """Return whether a folder is the root of a repository, or has plans."""
    if os.path.lexists(os.path.join(folder, ".git")):
        return True
    try:
        with os.scandir(os.path.join(folder, *RESERVED[0])) as found:
            return any(is_plan_file(entry.name) for entry in islice(found, _MAX_PLAN_NAMES))
    except OSError:
        return False


def _reserved_identities(top: str) -> Iterator[Identity]:
    for folder in RESERVED:
        try:
            yield _identity(os.stat(os.path.join(top, *folder)))
        except OSError:
            continue


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What the names in a folder say about it."""

    is_repository: bool
    """Git uses a folder with these three names as a repository; it is called `.git` only by convention."""
    is_work_tree: bool


def _read_names(handle: int) -> _Names:
    return _Names(
        is_repository=all(_has(handle, name) for name in ("HEAD", "objects", "refs")), is_work_tree=_has(handle, ".git")
    )


def _has(handle: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=handle, follow_symlinks=False)
    except OSError:
        return False
    return True


def _folders_above(handle: int) -> Iterator[tuple[Identity, _Names]]:
    """Yield a folder and every folder above it, by descriptor. Takes ownership of the handle."""
    try:
        last = None
        while (here := _identity(os.fstat(handle))) != last:
            yield here, _read_names(handle)
            above = os.open("..", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle, last = above, here
    finally:
        os.close(handle)


def _overlaps(handle: int, path: Path) -> bool:
    """Return whether an open folder contains a file or folder, or is inside it."""
    try:
        real = path.resolve(strict=True)
    except FileNotFoundError:
        return False
    found = real.stat()
    folder = real if stat.S_ISDIR(found.st_mode) else real.parent
    above = set(_identities_above(os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)))
    return _identity(os.fstat(handle)) in above or _identity(found) in set(_identities_above(os.dup(handle)))


def _identities_above(handle: int) -> Iterator[Identity]:
    return (here for here, _ in _folders_above(handle))


def _walk(root: str) -> Iterator[str]:
    """Yield every path that is protected by its name or its content. Nothing below them is scanned, and no link followed."""
    pending, left = [""], MAX_SCANNED
    while pending:
        folder = pending.pop()
        entries = _entries(os.path.join(root, folder))
        left -= len(entries)
        if left < 0:
            raise _too_large(f"{MAX_SCANNED} files")
        if folder and {"HEAD", "objects", "refs"} <= entries.keys():
            yield folder
            continue
        if ".git" in entries:
            yield from _reserved_below(folder)
        if folder.endswith("docs/plans") and any(map(is_plan_file, entries)):
            yield from _reserved_below(os.path.dirname(os.path.dirname(folder)))
        for name, is_folder in entries.items():
            path = os.path.join(folder, name)
            if is_own_name(name) or is_temporary(name):
                yield path
            elif is_folder:
                pending.append(path)


def _reserved_below(folder: str) -> Iterator[str]:
    return (os.path.join(folder, *each) for each in RESERVED)


def _entries(folder: str) -> dict[str, bool]:
    """Return the names in a folder, and whether each is a folder. A folder that cannot be read has none."""
    try:
        with os.scandir(folder) as found:
            return {entry.name: entry.is_dir(follow_symlinks=False) for entry in found}
    except OSError:
        return {}


def _maybe_mark(root: str, path: str) -> dict[str, tuple[int, ...]]:
    try:
        found = os.stat(os.path.join(root, path), follow_symlinks=False)
    except OSError:
        return {}
    mark: tuple[int, ...] = (*_identity(found), found.st_mode, found.st_uid, found.st_gid)
    if not stat.S_ISDIR(found.st_mode):
        mark += (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return {path: mark}


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino
