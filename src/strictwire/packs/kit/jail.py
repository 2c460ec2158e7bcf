"""A path jail: one folder that callers may name files in, and no way out of it.

Paths are judged by segment (`path`) and looked up relative to the root's descriptor (`ground`), never checked first and
opened later. Reading follows links that stay inside; writing follows none. Refusals are raised as Refused, each with the
code of its own cause (`refusals`). All methods block and may be called from any thread; `close` when none is running.

Hard links are files of the folder they stand in: `Look.names` says how many names a file has, for those who care.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit import openat2, stepwise
from strictwire.packs.kit.ground import Descriptors, Ground, Links, Place, Resolution
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.realpaths import RealPaths
from strictwire.packs.kit.refusals import Aim, content_refusal, kind_refusal, path_refusal
from strictwire.packs.kit.staging import Existing, Staged, stage

_CHUNK: Final = 1 << 20
"""Bytes asked for at once."""


class Kind(StrEnum):
    """What stands under a name."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "device"
    """A device, a FIFO or a socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is known of a file without reading it."""

    kind: Kind
    size: int
    modified_ns: int
    """Nanoseconds since 1970."""
    names: int
    """How many names it has: more than one is a hard link, maybe from outside."""
    identity: tuple[int, int]
    """Device and number: equal for two names of one file."""
    is_executable: bool = False
    """Whether its owner may run it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The names in a folder, sorted."""

    entries: tuple[tuple[str, Kind], ...]
    unnameable: int = 0
    """Names that are not UTF-8: they are counted, for no path can spell them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some bytes of a file."""

    data: bytes
    size: int
    """Of the whole file, when it was opened."""


class RootProblem(Enum):
    """Why a folder cannot be a root."""

    NOT_ABSOLUTE = "not_absolute"
    ABSENT = "absent"
    NOT_A_FOLDER = "not_a_folder"
    DENIED = "denied"


class RootRefused(Exception):
    """The folder cannot be a root. Carries the problem."""

    def __init__(self, problem: RootProblem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"the root is {self.problem.value.replace('_', ' ')}; expected the absolute path of a folder"


def best_resolution() -> Resolution:
    """The strongest way of looking up that this system has."""
    if os.open not in os.supports_dir_fd or os.readlink not in os.supports_dir_fd:
        return Resolution.REALPATH
    return Resolution.KERNEL if openat2.is_available() else Resolution.STEPWISE


class Jail:
    """See the module."""

    def __init__(self, root: str | Path, resolution: Resolution | None = None) -> None:
        """Pin the root. Raises RootRefused."""
        self.resolution: Final = resolution or best_resolution()
        self._ground: Final = _pin(os.fspath(root), self.resolution)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the root."""
        self._ground.close()

    @contextmanager
    def open(self, path: str) -> Iterator[tuple[int, Look]]:
        """A regular file, opened for reading: its descriptor and what it is. The descriptor is closed at the end.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND, FILE_NOT_FOUND, FILE_READ_FAILED.
        """
        with self._naming(parse_path(path)) as asked:
            handle = self._ground.open(asked)
        try:
            look = _look(os.fstat(handle))
            if look.kind is not Kind.FILE:
                raise kind_refusal(look.kind, Aim.READ)
            yield handle, look
        except OSError as exc:
            raise content_refusal(exc, Aim.READ) from exc
        finally:
            os.close(handle)

    def read(self, path: str, *, limit: int) -> bytes:
        """The whole file. Raises Refused: the codes of `open`, and CAP_EXCEEDED if it is longer than the limit."""
        with self.open(path) as (handle, look):
            data = _read(handle, limit + 1) if look.size <= limit else None
        if data is None or len(data) > limit:
            raise Refused(fail("CAP_EXCEEDED", text="The file is larger than allowed", details={"limitBytes": limit}))
        return data

    def read_part(self, path: str, *, offset: int, count: int) -> Part:
        """Up to `count` bytes from `offset` on; none past the end. Raises Refused: the codes of `open`."""
        with self.open(path) as (handle, look):
            os.lseek(handle, offset, os.SEEK_SET)
            return Part(data=_read(handle, count), size=look.size)

    def stat(self, path: str) -> Look:
        """What stands there, at the end of links that stay inside. Raises Refused: the codes of `open`.

        Without O_PATH, which is Linux's, a file that may not be read is FILE_READ_FAILED here too.
        """
        with self._naming(parse_path(path)) as asked:
            return _look(self._ground.look(asked, Links.INSIDE))

    def list(self, path: str, *, limit: int) -> Listing:
        """The names in a folder; links are named as links, not followed.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND (also if it is no folder),
        FILE_READ_FAILED, and CAP_EXCEEDED if there are more names than the limit.
        """
        with self._naming(replace(parse_path(path), folder=True)) as asked:
            folder = self._ground.enter(asked, Links.INSIDE)
        with closing(folder):
            try:
                return _scan(folder.scan_target(), limit)
            except OSError as exc:
                raise content_refusal(exc, Aim.READ) from exc

    def stage(self, path: str, data: bytes, existing: Existing = Existing.REPLACE) -> Staged:
        """Write the bytes beside their place, durable but unnamed; `commit` puts them there in one step.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND, FILE_ALREADY_EXISTS,
        FILE_WRITE_FAILED (also for a link, whatever it leads to inside).
        """
        asked = parse_path(path)
        if asked.folder or not asked.segments:
            raise kind_refusal(Kind.FOLDER, Aim.WRITE)
        try:
            folder = self._ground.enter(asked.parent, Links.NEVER)
        except OSError as exc:
            raise self._write_refusal(asked, exc) from exc
        try:
            return stage(folder, asked.name, data, existing=existing)
        except OSError as exc:
            raise self._write_refusal(asked, exc) from exc

    def enter(self, path: str) -> Place:
        """A folder whose names are to be changed, reached without following any link. The caller closes it.

        Raises Refused: the codes of `parse_path`, OUTSIDE_WORKSPACE, PATH_NOT_FOUND, FILE_WRITE_FAILED.
        """
        asked = replace(parse_path(path), folder=True)
        try:
            return self._ground.enter(asked, Links.NEVER)
        except OSError as exc:
            raise self._write_refusal(asked, exc) from exc

    def write(self, path: str, data: bytes, existing: Existing = Existing.REPLACE) -> None:
        """`stage` and `commit`: afterwards the file is the new one, and a power cut leaves the old or the new."""
        with self.stage(path, data, existing) as staged:
            staged.commit()

    @contextmanager
    def _naming(self, path: JailPath) -> Iterator[JailPath]:
        """Gives errors met on the way to a path their codes."""
        try:
            yield path
        except OSError as exc:
            raise self._missing(path, exc) or path_refusal(exc, Aim.READ) from exc

    def _missing(self, path: JailPath, exc: OSError) -> Refused | None:
        """PATH_NOT_FOUND, if what is missing is a folder. Looked up only to name a refusal that stands already."""
        if exc.errno != errno.ENOENT or (not path.folder and self._has_parent(path)):
            return None
        return Refused(fail("PATH_NOT_FOUND"))

    def _has_parent(self, path: JailPath) -> bool:
        with suppress(OSError):
            return stat.S_ISDIR(self._ground.look(path.parent, Links.INSIDE).st_mode)
        return False

    def _write_refusal(self, path: JailPath, exc: OSError) -> Refused:
        """A link that ends the way is told apart by where it leads. Nothing is opened through it."""
        if exc.errno == errno.ENOENT:
            return Refused(fail("PATH_NOT_FOUND"))
        if exc.errno == errno.ELOOP:
            try:
                self._ground.look(path, Links.INSIDE)
            except OSError as end:
                exc = end if end.errno == errno.EXDEV else exc
        return path_refusal(exc, Aim.WRITE)


def _pin(root: str, resolution: Resolution) -> Ground:
    if not os.path.isabs(root) or "\x00" in root:
        raise RootRefused(RootProblem.NOT_ABSOLUTE)
    raw = os.fsencode(root)
    try:
        if not stat.S_ISDIR(os.stat(raw).st_mode):
            raise RootRefused(RootProblem.NOT_A_FOLDER)
        match resolution:
            case Resolution.KERNEL:
                return Descriptors(raw, openat2.open_beneath)
            case Resolution.STEPWISE:
                return Descriptors(raw, stepwise.open_beneath)
            case Resolution.REALPATH:
                return RealPaths(raw)
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
    if entry.is_symlink() or entry.is_junction() if hasattr(entry, "is_junction") else entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER
