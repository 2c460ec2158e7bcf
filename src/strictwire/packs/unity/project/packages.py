"""Which packages a project uses, and whether their files are on disk.

A GUID that no .meta file has is missing only if every package that could bring it is here. Sources of packages usually
live in `Library/PackageCache`, which is not versioned, so a checkout alone rarely has all of them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind

MAX_MANIFEST: Final = 4 * 1024 * 1024
MAX_PACKAGES: Final = 2_000
MAX_CACHED: Final = 10_000
"""Folders of the package cache that are looked at."""

_NO_ASSETS: Final = ("com.unity.modules.", "com.unity.feature.")
"""Packages without assets: engine modules, and lists of other packages."""

_CACHE: Final = "Library/PackageCache"

_VERSION: Final = re.compile(r"\d+\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One package."""

    name: str
    version: str
    source: str
    """As in the lock file: `registry`, `git`, `local`, `local-tarball`, `embedded`, `builtin`."""
    place: str | None
    """Its folder below the root of the jail; None if it is not on disk, or outside the jail."""

    @property
    def is_absent(self) -> bool:
        """Whether the package may bring GUIDs that cannot be seen."""
        return self.place is None and not self.name.startswith(_NO_ASSETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """The packages of one project, by name."""

    known: Mapping[str, Package]
    problems: Mapping[str, str]
    """Package files that cannot be read, and why."""
    is_listed: bool
    """Whether the project has a list of packages at all. Without one, any package may be in use."""

    @property
    def absent(self) -> tuple[str, ...]:
        """Names of packages whose files are needed and not on disk."""
        return tuple(sorted(each.name for each in self.known.values() if each.is_absent))

    @property
    def is_complete(self) -> bool:
        """Whether every package is on disk, so that an unknown GUID is certainly missing."""
        return self.is_listed and not self.problems and not self.absent


def read_packages(jail: Jail, root: str) -> Packages:
    """The packages of the project at `root`, below the root of the jail."""
    problems: dict[str, str] = {}
    manifest = _dependencies(jail, root, "Packages/manifest.json", problems)
    lock = _dependencies(jail, root, "Packages/packages-lock.json", problems)
    embedded = _embedded(jail, root, problems)
    cached = _cached(jail, root)
    known: dict[str, Package] = {}
    # The lock file also has indirect dependencies; the manifest stands in where there is none.
    for name, entry in {**(manifest or {}), **(lock or {})}.items():
        if name not in embedded and len(known) < MAX_PACKAGES:
            known[name] = _locate(jail, root, name, entry, cached)
    for name, place in embedded.items():
        known[name] = Package(name=name, version="", source="embedded", place=place)
    is_listed = manifest is not None or lock is not None
    return Packages(known=MappingProxyType(known), problems=MappingProxyType(problems), is_listed=is_listed)


def _locate(jail: Jail, root: str, name: str, entry: object, cached: Mapping[str, str]) -> Package:
    version = str(entry.get("version", "")) if isinstance(entry, dict) else str(entry)
    source = str(entry.get("source", "")) if isinstance(entry, dict) else ""
    place = cached.get(f"{name}@{version}") or cached.get(name)
    if version.startswith("file:"):
        source, place = source or "local", _local(jail, root, version.removeprefix("file:"))
    return Package(name=name, version=version, source=source or "registry", place=place)


def _local(jail: Jail, root: str, target: str) -> str | None:
    """A `file:` path is relative to `Packages/`. One that leaves the jail, or holds no package, is treated as absent."""
    if target.startswith("/"):
        return None
    place = posixpath.normpath(posixpath.join(root, "Packages", target.replace("\\", "/")))
    return place if not place.startswith("..") and _is_package(jail, place) else None


def _dependencies(jail: Jail, root: str, path: str, problems: dict[str, str]) -> JsonObject | None:
    """The member `dependencies` of a package file; None if the file is absent or unreadable."""
    try:
        raw = jail.read(posixpath.join(root, path), limit=MAX_MANIFEST)
    except Refused as exc:
        if exc.failure.code not in ("FILE_NOT_FOUND", "PATH_NOT_FOUND"):
            problems[path] = "it cannot be read"
        return None
    try:
        value = parse(raw.removeprefix(b"\xef\xbb\xbf"))
    except NotStrict as exc:
        problems[path] = f"it is not valid JSON ({exc.fault.value.replace('_', ' ')})"
        return None
    found = value.get("dependencies") if isinstance(value, dict) else None
    if not isinstance(found, dict):
        problems[path] = "it has no object `dependencies`"
        return None
    return found


def _embedded(jail: Jail, root: str, problems: dict[str, str]) -> dict[str, str]:
    """Folders of `Packages/` that hold a package, by the name in its package.json."""
    found: dict[str, str] = {}
    for folder in _folders(jail, posixpath.join(root, "Packages")):
        place = posixpath.join(root, "Packages", folder)
        try:
            raw = jail.read(f"{place}/package.json", limit=MAX_MANIFEST)
            value = parse(raw.removeprefix(b"\xef\xbb\xbf"))
        except (Refused, NotStrict) as exc:
            if isinstance(exc, NotStrict):
                problems[f"Packages/{folder}/package.json"] = "it is not valid JSON"
            continue
        name = value.get("name") if isinstance(value, dict) else None
        found[name if isinstance(name, str) and name else folder] = place
    return found


def _cached(jail: Jail, root: str) -> dict[str, str]:
    """Folders of the package cache by `name@version` and by name. Newer editors put a hash in place of the version."""
    found: dict[str, str] = {}
    for folder in _folders(jail, posixpath.join(root, _CACHE)):
        place = posixpath.join(root, _CACHE, folder)
        found[folder] = place
        name, _, version = folder.partition("@")
        # Another version than the one in use does not tell which GUIDs that one has.
        if not _VERSION.match(version):
            found[name] = place
    return found


def _folders(jail: Jail, place: str) -> list[str]:
    try:
        listing = jail.list(place, limit=MAX_CACHED)
    except Refused:
        return []
    return [name for name, kind in listing.entries if kind is Kind.FOLDER and not name.startswith(".")]


def _is_package(jail: Jail, place: str) -> bool:
    try:
        return jail.stat(f"{place}/package.json").kind is Kind.FILE
    except Refused:
        return False
