"""One Unity project: its assets with their GUIDs, and what is known about its packages. The seam of the other modules.

`open_project` lists files and reads .meta files; it does not look into assets. A Project is a snapshot: `open_project` again
gives the present state.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, RootRefused
from strictwire.packs.unity.project.find import NotAProject, is_project, read_editor_version
from strictwire.packs.unity.project.kinds import Form, form_of, type_of
from strictwire.packs.unity.project.meta import MAX_META, Meta, has_several_guids, read_meta
from strictwire.packs.unity.project.packages import Packages, read_packages
from strictwire.packs.unity.project.walk import Entry, Obstacle, Stamp, Walk, follow_links, walk_folder
from strictwire.packs.unity.yaml.index import has_conflict

META: Final = ".meta"
_OWN: Final = ("Assets", "ProjectSettings")
MAX_FILE: Final = 512 * 1024 * 1024
"""Bytes of one asset that are read. Unity itself stops at 2 GB."""


class Asset(Struct, frozen=True):
    """One file of the project."""

    path: str
    guid: str
    """Empty if it has no valid .meta file."""
    size: int
    type: str
    """Such as `Scene`, `Prefab`, `Texture`; see `kinds`."""
    place: str
    stamp: Stamp


class MetaRecord(Struct, frozen=True):
    """One .meta file and what it says."""

    stamp: Stamp
    meta: Meta
    is_ambiguous: bool
    """Whether it names more than one GUID."""
    has_conflict: bool
    """Whether it holds the markers of an unfinished merge."""
    has_references: bool
    """Whether importer settings refer to other assets."""


Metas = Mapping[str, MetaRecord]
"""Records by path of the .meta file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """See the module."""

    root: Path
    editor_version: str
    assets: Mapping[str, Asset]
    """Files of `Assets`, `ProjectSettings` and embedded packages, by path. No .meta files."""
    folders: frozenset[str]
    metas: Metas
    """Of `Assets` and embedded packages."""
    by_guid: Mapping[str, str]
    """GUID to path. Of several owners the first by path counts. A .meta file without its asset owns nothing."""
    owners: Mapping[str, tuple[str, ...]]
    """GUIDs that several assets of this project have, with their paths."""
    foreign: Mapping[str, Asset]
    """Files of packages that are not part of the project, cached and local ones, as `Packages/<name>/...`."""
    foreign_metas: Metas
    foreign_guids: Mapping[str, str]
    """GUID to path of those."""
    packages: Packages
    obstacles: Mapping[str, Obstacle]
    unreadable: tuple[str, ...]
    """.meta files that could not be read, or that Git LFS has not fetched."""
    jail: Jail
    prefix: str
    """Where the project lies below the root of the jail; empty if it is the root."""

    def path_of(self, guid: str) -> str | None:
        """The asset with a GUID, packages included; None if there is none on disk."""
        return self.by_guid.get(guid) or self.foreign_guids.get(guid)

    def guid_of(self, path: str) -> str | None:
        """The GUID of an asset or folder; None if it has no valid .meta file."""
        record = self.metas.get(path + META) or self.foreign_metas.get(path + META)
        return record.meta.guid or None if record else None

    @property
    def sees_everything(self) -> bool:
        """Whether an unknown GUID is certainly missing: no package, folder or .meta file is hidden from us."""
        return self.packages.is_complete and not self.obstacles and not self.unreadable

    def read(self, path: str, *, limit: int = MAX_FILE) -> bytes:
        """The content of a file, .meta files and files of packages included. Raises Refused: the codes of `Jail.read`."""
        foreign = self.foreign.get(path)
        return self.jail.read(foreign.place if foreign else posixpath.join(self.prefix, path), limit=limit)

    def has(self, path: str) -> bool:
        """Whether a file or folder is there, seen or hidden behind an obstacle."""
        return path in self.assets or path in self.folders or path in self.obstacles

    def close(self) -> None:
        """Let go of the folder. Snapshots made by `refresh_project` share it."""
        self.jail.close()


def open_project(root: Path, *, boundary: Path | None = None, known: Metas = MappingProxyType({})) -> Project:
    """List a project and read its .meta files. The caller closes it. Raises NotAProject.

    `boundary` is a folder around the project from which local packages may be read; by default the project itself.
    `known` are records of an earlier run: a .meta file with the same stamp is not read again.
    """
    root = root.resolve()
    boundary = (boundary or root).resolve()
    if not is_project(root) or not root.is_relative_to(boundary):
        raise NotAProject(root)
    try:
        jail = Jail(boundary)
    except RootRefused as exc:
        raise NotAProject(root) from exc
    prefix = root.relative_to(boundary).as_posix()
    return _survey(root, "" if prefix == "." else prefix, jail, known)


def refresh_project(project: Project, *, settled_ns: int) -> Project:
    """The present state of an open project. A .meta file that did not change is not read again.

    One that changed after `settled_ns` (nanoseconds since 1970) is read in any case: its time stamp may be too coarse to
    show a second change.
    """
    every = {**project.metas, **project.foreign_metas}
    known = {path: record for path, record in every.items() if record.stamp.changed_ns < settled_ns}
    return _survey(project.root, project.prefix, project.jail, known)


def _survey(root: Path, prefix: str, jail: Jail, known: Metas) -> Project:
    packages = read_packages(jail, prefix)
    own, foreign = Walk(), Walk()
    for folder in _OWN:
        walk_folder(jail, path=folder, place=posixpath.join(prefix, folder), into=own)
    for package in packages.known.values():
        if package.place is not None and package.source == "embedded":
            walk_folder(jail, path=posixpath.relpath(package.place, prefix or "."), place=package.place, into=own)
        elif package.place is not None:
            walk_folder(jail, path=f"Packages/{package.name}", place=package.place, into=foreign)
    for walk in (own, foreign):
        follow_links(jail, walk)
    unreadable: list[str] = []
    metas = _read_metas(jail, own.files.values(), known, unreadable.append)
    foreign_metas = _read_metas(jail, foreign.files.values(), known, unreadable.append)
    assets = _assets(own, metas)
    there = {*assets, *own.folders, *own.obstacles}
    by_guid, owners = _map_guids({path: record for path, record in metas.items() if path.removesuffix(META) in there})
    return Project(
        root=root,
        editor_version=read_editor_version(root),
        assets=assets,
        folders=frozenset(own.folders),
        metas=MappingProxyType(metas),
        by_guid=by_guid,
        owners=owners,
        foreign=_assets(foreign, foreign_metas),
        foreign_metas=MappingProxyType(foreign_metas),
        foreign_guids=_map_guids(foreign_metas)[0],
        packages=packages,
        obstacles=MappingProxyType({**own.obstacles, **foreign.obstacles}),
        unreadable=tuple(sorted(unreadable)),
        jail=jail,
        prefix=prefix,
    )


def _assets(walk: Walk, metas: Metas) -> Mapping[str, Asset]:
    found = {path: _asset(entry, metas) for path, entry in walk.files.items() if not path.endswith(META)}
    return MappingProxyType(dict(sorted(found.items())))


def _asset(entry: Entry, metas: Metas) -> Asset:
    record = metas.get(entry.path + META)
    guid = record.meta.guid if record else ""
    return Asset(entry.path, guid, entry.stamp.size, type_of(entry.path), entry.place, entry.stamp)


def _read_metas(
    jail: Jail, entries: Iterable[Entry], known: Metas, unreadable: Callable[[str], None]
) -> dict[str, MetaRecord]:
    found: dict[str, MetaRecord] = {}
    for path, place, stamp in entries:
        if not path.endswith(META):
            continue
        record = known.get(path)
        if record is None or record.stamp != stamp:
            record = _read_record(jail, place, stamp)
        if record is None:
            unreadable(path)
        else:
            found[path] = record
    return found


def _read_record(jail: Jail, place: str, stamp: Stamp) -> MetaRecord | None:
    try:
        raw = jail.read(place, limit=MAX_META)
    except Refused:
        return None
    if form_of(raw) is Form.LFS_POINTER:
        return None
    return MetaRecord(stamp, read_meta(raw), has_several_guids(raw), has_conflict(raw), b"{fileID" in raw)


def _map_guids(metas: Metas) -> tuple[Mapping[str, str], Mapping[str, tuple[str, ...]]]:
    """GUID to its first owner, and the GUIDs that have several."""
    by_guid: dict[str, str] = {}
    several: dict[str, list[str]] = {}
    for path in sorted(metas):
        guid, owner = metas[path].meta.guid, path.removesuffix(META)
        if guid and by_guid.setdefault(guid, owner) != owner:
            several.setdefault(guid, [by_guid[guid]]).append(owner)
    return MappingProxyType(by_guid), MappingProxyType({guid: tuple(paths) for guid, paths in several.items()})
