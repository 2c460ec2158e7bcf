"""The references of a whole project: who uses what. Built from scans, which are reused while their files stay the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.fault.failure import Refused
from strictwire.packs.unity.project.kinds import LFS_BYTES, TEXT_EXTENSIONS, YAML_EXTENSIONS, Form, extension_of, form_of
from strictwire.packs.unity.project.project import MAX_FILE, META, Project
from strictwire.packs.unity.project.walk import Stamp
from strictwire.packs.unity.references.scan import Scan, scan_file

_HEAD: Final = 8192
"""Bytes that tell the form of a file."""

_LARGE: Final = 1024 * 1024
"""A file above this size is read whole only if its head is text: terrain and lighting data are binary and large."""

_ATTEMPTS: Final = 3
"""Reads of a file that changes while it is read."""


class Unread(StrEnum):
    """Why a file was not scanned."""

    UNREADABLE = "it cannot be read"
    GONE = "it disappeared during the scan"
    CHANGING = "it changed while it was read"
    TOO_LARGE = "it is larger than the reader accepts"


class Scanned(Struct, frozen=True, array_like=True):
    """A scan and the state of the file it belongs to."""

    stamp: Stamp
    scan: Scan


Scans = Mapping[str, Scanned]

Stop = Callable[[], bool]
"""Asked before each file; True ends the scan with what is done so far."""

Progress = Callable[[int, int], None]
"""Called with how many files are done and how many there are."""


def never() -> bool:
    """A scan without a time limit."""
    return False


def silent(_done: int, _total: int) -> None:
    """No progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """See the module."""

    project: Project
    scans: Scans
    """By path, .meta files that refer to assets included."""
    unread: Mapping[str, Unread]
    users: Mapping[str, tuple[str, ...]]
    """GUID to the files that refer to it, sorted."""
    users_by_path: Mapping[str, tuple[str, ...]]
    """Path to the files that refer to it by path, sorted."""
    total: int
    """Files that there are to scan."""

    @property
    def is_partial(self) -> bool:
        """Whether the scan was ended by its time limit."""
        return len(self.scans) + len(self.unread) < self.total

    def users_of(self, path: str) -> tuple[str, ...]:
        """Assets that refer to an asset in any form. A .meta file counts as the asset it belongs to."""
        guid = self.project.guid_of(path)
        found = {*self.users.get(guid or "", ()), *self.users_by_path.get(path, ())}
        return tuple(sorted({each.removesuffix(META) for each in found} - {path}))

    def used_by(self, path: str) -> tuple[str, ...]:
        """Assets on disk that an asset refers to, its importer settings included."""
        project = self.project
        scans = [found.scan for name in (path, path + META) if (found := self.scans.get(name)) is not None]
        guids = {guid for scan in scans for guid in scan.guids()}
        paths = {project.path_of(guid) for guid in guids}
        paths |= {owner for guid in guids & project.owners.keys() for owner in project.owners[guid]}
        paths |= {named for scan in scans for named in scan.paths if named in project.assets}
        return tuple(sorted(each for each in paths if each and each != path))


def scan_project(
    project: Project, *, known: Scans = MappingProxyType({}), stop: Stop = never, progress: Progress = silent
) -> Graph:
    """Scan every file that can refer to others. Files with the stamp of a known scan are not read."""
    wanted = list(_files(project))
    scans: dict[str, Scanned] = {}
    unread: dict[str, Unread] = {}
    for done, (path, place, stamp) in enumerate(wanted):
        if stop():
            break
        found = known.get(path)
        outcome = found if found is not None and found.stamp == stamp else _scan(project, path, place, stamp)
        if isinstance(outcome, Scanned):
            scans[path] = outcome
        else:
            unread[path] = outcome
        progress(done + 1, len(wanted))
    return make_graph(project, scans, unread, total=len(wanted))


def make_graph(project: Project, scans: Scans, unread: Mapping[str, Unread], *, total: int) -> Graph:
    """A graph from scans."""
    users: dict[str, list[str]] = {}
    by_path: dict[str, list[str]] = {}
    for path in sorted(scans):
        scan = scans[path].scan
        for guid in set(scan.guids()):
            users.setdefault(guid, []).append(path)
        for named in scan.paths:
            by_path.setdefault(named, []).append(path)
    return Graph(
        project=project,
        scans=MappingProxyType(dict(scans)),
        unread=MappingProxyType(dict(unread)),
        users=MappingProxyType({guid: tuple(found) for guid, found in users.items()}),
        users_by_path=MappingProxyType({named: tuple(found) for named, found in by_path.items()}),
        total=total,
    )


def _files(project: Project) -> Iterator[tuple[str, str, Stamp]]:
    """Every asset, and the .meta files that refer to others."""
    for path, asset in project.assets.items():
        yield path, asset.place, asset.stamp
        record = project.metas.get(path + META)
        if record is not None and record.has_references:
            yield path + META, asset.place + META, record.stamp


def _scan(project: Project, path: str, place: str, stamp: Stamp) -> Scanned | Unread:
    if not _is_worth_reading(path, stamp.size):
        return Scanned(stamp, Scan(Form.BINARY))
    if stamp.size > MAX_FILE:
        return Unread.TOO_LARGE
    try:
        if stamp.size > _LARGE:
            head = project.jail.read_part(place, offset=0, count=_HEAD).data
            if form_of(head) is Form.BINARY:
                return Scanned(stamp, Scan(Form.BINARY))
        return _read_stable(project, path, place, stamp)
    except Refused as exc:
        is_gone = exc.failure.code in ("FILE_NOT_FOUND", "PATH_NOT_FOUND")
        return Unread.GONE if is_gone else Unread.UNREADABLE


def _is_worth_reading(path: str, size: int) -> bool:
    """Small files of any kind may be Git LFS pointers."""
    extension = extension_of(path)
    return extension in YAML_EXTENSIONS or extension in TEXT_EXTENSIONS or size <= LFS_BYTES


def _read_stable(project: Project, path: str, place: str, stamp: Stamp) -> Scanned | Unread:
    """Read until size and time before and after agree, so that no half-written file is judged."""
    for _ in range(_ATTEMPTS):
        with project.jail.open(place) as (handle, look):
            raw = _read_all(handle, look.size)
            found = os.fstat(handle)
        if (found.st_size, found.st_mtime_ns) == (look.size, look.modified_ns) and len(raw) == look.size:
            return Scanned(stamp._replace(size=look.size, modified_ns=look.modified_ns), scan_file(path, raw))
    return Unread.CHANGING


def _read_all(handle: int, size: int) -> bytes:
    """The content of an open file: one more byte than expected is asked for, to notice that it grew."""
    with os.fdopen(handle, "rb", buffering=0, closefd=False) as file:
        return file.read(min(size, MAX_FILE) + 1) or b""
