"""A path jail: callers name files in one folder, and no path leads out of it.

Paths are parsed by segment (`path`) and looked up relative to a descriptor of the root (`root`). Lookup and open are one
operation, so there is no gap between check and use. Reads follow symbolic links that stay inside; writes follow none.
Failures are raised as Refused, with a separate code for each cause (`refusals`). All methods block. They may be called from
any thread; call `close` when no other method is running.

A hard link belongs to the folder it is in, wherever the file's other names are. `Look.names` gives the number of names.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit import openat2, segmentwise
from strictwire.packs.kit.by_name import NameRoot
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.refusals import Aim, content_refusal, kind_refusal, path_refusal
from strictwire.packs.kit.root import DescriptorRoot, Links, OpenFolder, Resolution, Root
from strictwire.packs.kit.staging import Existing, Staged, stage

_CHUNK: Final = 1 << 20
"""Bytes per read call: large enough that the number of calls does not matter."""


class Kind(StrEnum):
    """Type of a file. The values appear in failure details and in the answers of tools."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "device"
    """A device, a FIFO or a socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Status of a file, known without reading it."""

    kind: Kind
    size: int
    modified_ns: int
    """Time of the last modification, in nanoseconds since 1970."""
    names: int
    """Number of hard links. If it is more than one, another name may be outside the root."""
    identity: tuple[int, int]
    """Device and inode number: equal for two names of one file."""
    is_executable: bool = False
    """Whether the owner may execute it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The names in a folder, sorted."""

    entries: tuple[tuple[str, Kind], ...]
    unnameable: int = 0
    """Number of names that are not valid UTF-8. They are only counted, because no path can spell them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A range of bytes of a file."""

    data: bytes
    size: int
    """Size of the whole file when it was opened."""


class Guard(Protocol):
    """Decides which changes in a jail are permitted. Asked by the jail itself, so no caller can forget it."""

    def check_folder(self, handle: int, path: JailPath) -> None:
        """Raises Refused if nothing in this folder may be changed. The folder is open, so it cannot be swapped any more."""

    def check_name(self, name: str) -> None:
        """Raises Refused if no file of this name may be changed, whatever folder it is in."""


class RootProblem(Enum):
    """Why a folder cannot be used as a root."""

    NOT_ABSOLUTE = "not_absolute"
    ABSENT = "absent"
    NOT_A_FOLDER = "not_a_folder"
    DENIED = "denied"


class RootRefused(Exception):
    """The folder cannot be used as a root. Carries the problem."""

    def __init__(self, problem: RootProblem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"the root is {self.problem.value.replace('_', ' ')}; expected the absolute path of a folder"


def best_resolution() -> Resolution:
    """Return the strongest kind of path lookup that this system supports."""
    if os.open not in os.supports_dir_fd or os.readlink not in os.supports_dir_fd:
        return Resolution.BY_NAME
    return Resolution.KERNEL if openat2.is_available() else Resolution.SEGMENTWISE


class Jail:
    """One root folder and the operations on files beneath it. See the module docstring."""

    def __init__(self, root: str | Path, resolution: Resolution | None = None) -> None:
        """Open the root. Raises RootRefused."""
        self.resolution: Final = resolution or best_resolution()
        self._root: Root = _open_root(os.fspath(root), self.resolution)
        self._guard: Guard | None = None

    def guarded(self, guard: Guard) -> Jail:
        """Return a jail on the same root whose changes are checked by a guard. It needs file descriptors, so it cannot be
        used with BY_NAME. Closing either jail closes both."""
        made = copy(self)
        made._guard = guard  # noqa: SLF001 - an object of the same class
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Release the root."""
        self._root.close()

    @contextmanager
    def open(self, path: str, links: Links = Links.INSIDE) -> Iterator[tuple[int, Look]]:
        """Open a regular file for reading; yields its descriptor and status. The descriptor is closed on exit.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND, FILE_NOT_FOUND, FILE_READ_FAILED.
        """
        with self._mapping_errors(parse_path(path)) as asked:
            handle = self._root.open(asked, links)
        try:
            look = _look(os.fstat(handle))
            if look.kind is not Kind.FILE:
                raise kind_refusal(look.kind, Aim.READ)
            yield handle, look
        except OSError as exc:
            raise content_refusal(exc, Aim.READ) from exc
        finally:
            os.close(handle)

    def read(self, path: str, *, limit: int, links: Links = Links.INSIDE) -> bytes:
        """Read the whole file. Raises Refused: the codes of `open`; CAP_EXCEEDED if it is longer than `limit` bytes."""
        with self.open(path, links) as (handle, look):
            data = _read(handle, limit + 1) if look.size <= limit else None
        if data is None or len(data) > limit:
            raise Refused(fail("CAP_EXCEEDED", text="The file is larger than allowed", details={"limitBytes": limit}))
        return data

    def read_part(self, path: str, *, offset: int, count: int) -> Part:
        """Read up to `count` bytes from `offset`; past the end there are none. Raises Refused: the codes of `open`."""
        with self.open(path) as (handle, look):
            os.lseek(handle, offset, os.SEEK_SET)
            return Part(data=_read(handle, count), size=look.size)

    def stat(self, path: str) -> Look:
        """Return the status of whatever is at the path; links that stay inside are followed.

        Raises Refused: the codes of `open`. On systems without O_PATH (other than Linux), a file without read permission is
        FILE_READ_FAILED.
        """
        with self._mapping_errors(parse_path(path)) as asked:
            return _look(self._root.stat(asked, Links.INSIDE))

    def list(self, path: str, *, limit: int) -> Listing:
        """List the names in a folder. Links in it are listed as links, not followed.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND (absent or not a folder),
        FILE_READ_FAILED, and CAP_EXCEEDED if there are more than `limit` names.
        """
        with self._mapping_errors(replace(parse_path(path), folder=True)) as asked:
            folder = self._root.enter(asked, Links.INSIDE)
        with closing(folder):
            try:
                return _scan(folder.scan_target(), limit)
            except OSError as exc:
                raise content_refusal(exc, Aim.READ) from exc

    def stage(self, path: str, data: bytes, existing: Existing = Existing.REPLACE) -> Staged:
        """Write the bytes to a temporary file beside the target and sync it; `commit` then renames it into place.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND, FILE_ALREADY_EXISTS,
        FILE_WRITE_FAILED (also for a symbolic link, even if its target is inside).
        """
        asked = parse_path(path)
        if asked.folder or not asked.segments:
            raise kind_refusal(Kind.FOLDER, Aim.WRITE)
        folder = self._enter(asked.parent, asked)
        try:
            return stage(folder, asked.name, data, existing=existing)
        except OSError as exc:
            raise self._write_refusal(asked, exc) from exc

    def enter(self, path: str) -> OpenFolder:
        """Open a folder in order to change its names. No link is followed. The caller closes it.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND, FILE_WRITE_FAILED; those of the guard.
        """
        asked = replace(parse_path(path), folder=True)
        return self._enter(asked, asked)

    def write(self, path: str, data: bytes, existing: Existing = Existing.REPLACE) -> None:
        """`stage` and `commit`. Atomic: after a power failure the file has either the old or the new content.

        Raises Refused: the codes of `stage`.
        """
        with self.stage(path, data, existing) as staged:
            staged.commit()

    def _enter(self, path: JailPath, asked: JailPath) -> OpenFolder:
        """Open a folder for changes, and let the guard check it. `asked` is the path to report in a failure."""
        try:
            folder = self._root.enter(path, Links.NEVER)
        except OSError as exc:
            raise self._write_refusal(asked, exc) from exc
        if self._guard is None:
            return folder
        try:
            self._guard.check_folder(folder.descriptor, path)
        except BaseException:
            folder.close()
            raise
        return replace(folder, check_name=self._guard.check_name)

    @contextmanager
    def _mapping_errors(self, path: JailPath) -> Iterator[JailPath]:
        """Convert an OSError of a lookup into a Refused."""
        try:
            yield path
        except OSError as exc:
            raise self._maybe_folder_missing(path, exc) or path_refusal(exc, Aim.READ) from exc

    def _maybe_folder_missing(self, path: JailPath, exc: OSError) -> Refused | None:
        """Return PATH_NOT_FOUND if a folder is missing. The extra lookup only selects the code; the call fails anyway."""
        if exc.errno != errno.ENOENT or (not path.folder and self._has_parent(path)):
            return None
        return Refused(fail("PATH_NOT_FOUND"))

    def _has_parent(self, path: JailPath) -> bool:
        with suppress(OSError):
            return stat.S_ISDIR(self._root.stat(path.parent, Links.INSIDE).st_mode)
        return False

    def _write_refusal(self, path: JailPath, exc: OSError) -> Refused:
        """Return the failure for a write. A link that was met is followed here only to choose the code by its target."""
        if exc.errno == errno.ENOENT:
            return Refused(fail("PATH_NOT_FOUND"))
        if exc.errno == errno.ELOOP:
            try:
                self._root.stat(path, Links.INSIDE)
            except OSError as end:
                exc = end if end.errno == errno.EXDEV else exc
        return path_refusal(exc, Aim.WRITE)


def _open_root(root: str, resolution: Resolution) -> Root:
    if not os.path.isabs(root) or "\x00" in root:
        raise RootRefused(RootProblem.NOT_ABSOLUTE)
    raw = os.fsencode(root)
    try:
        if not stat.S_ISDIR(os.stat(raw).st_mode):
            raise RootRefused(RootProblem.NOT_A_FOLDER)
        match resolution:
            case Resolution.KERNEL:
                return DescriptorRoot(raw, openat2.open_beneath)
            case Resolution.SEGMENTWISE:
                return DescriptorRoot(raw, segmentwise.open_beneath)
            case Resolution.BY_NAME:
                return NameRoot(raw)
    except OSError as exc:
        raise RootRefused(_ROOT_PROBLEMS.get(exc.errno or 0, RootProblem.DENIED)) from exc


_ROOT_PROBLEMS: Final = {errno.ENOENT: RootProblem.ABSENT, errno.ENOTDIR: RootProblem.NOT_A_FOLDER}


def _look(found: os.stat_result) -> Look:
    return Look(
        kind=_kind(found.st_mode),
        size=found.st_size,
        modified_ns=found.st_mtime_ns,
        names=found.st_nlink,
        identity=(found.st_dev, found.st_ino),
        is_executable=bool(found.st_mode & stat.S_IXUSR),
    )


def _kind(mode: int) -> Kind:
    tests = ((stat.S_ISREG, Kind.FILE), (stat.S_ISDIR, Kind.FOLDER), (stat.S_ISLNK, Kind.LINK))
    return next((kind for test, kind in tests if test(mode)), Kind.OTHER)


def _read(handle: int, count: int) -> bytes:
    parts = []
    while count > 0 and (part := os.read(handle, min(count, _CHUNK))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _scan(folder: int | str, limit: int) -> Listing:
    with os.scandir(folder) as found:
        entries = list(islice(found, limit + 1))
    if len(entries) > limit:
        raise Refused(fail("CAP_EXCEEDED", text="The folder has more names than allowed", details={"limit": limit}))
    named = [(name, _entry_kind(entry)) for entry in entries if (name := _maybe_name(entry)) is not None]
    return Listing(entries=tuple(sorted(named)), unnameable=len(entries) - len(named))


def _maybe_name(entry: os.DirEntry[str]) -> str | None:
    try:
        return os.fsencode(entry.name).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _entry_kind(entry: os.DirEntry[str]) -> Kind:
    # is_junction exists in Python 3.12 and later. A Windows junction leads elsewhere, like a symbolic link.
    if entry.is_symlink() or (hasattr(entry, "is_junction") and entry.is_junction()):
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER
