"""Lists the files of a folder that Unity would import, without leaving the jail and without reading any.

Unity ignores names that begin with a dot or end with `~`, `.tmp` files and folders named `cvs`. Links that stay inside the
jail are followed once; other links, unreadable folders and names that are not UTF-8 are reported, because what they hide
makes every statement about missing assets uncertain.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind

MAX_FILES: Final = 1_000_000
"""Files of one project. The largest public projects have about 100,000."""

MAX_DEPTH: Final = 64
"""Folders below each other. Deeper trees do not fit the path limit of Windows, where most editors run."""

MAX_NAMES: Final = 200_000
"""Names in one folder that is reached through a link."""


class Stamp(NamedTuple):
    """What tells two states of a file apart without reading it."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int


class Obstacle(StrEnum):
    """Why something was not listed."""

    LINK_OUTSIDE = "a link that leads outside"
    LINK_BROKEN = "a link that leads nowhere"
    LINK_LOOP = "a link to a folder that is listed already"
    UNREADABLE = "a folder that cannot be read"
    NOT_UTF8 = "a name that is not UTF-8"
    SPECIAL = "a device, socket or FIFO"
    TOO_DEEP = "folders nested too deeply"
    TOO_MANY = "too many files"


class Entry(NamedTuple):
    """One file."""

    path: str
    """As the project names it, such as `Packages/com.example/Runtime/A.cs`."""
    place: str
    """Below the root of the jail."""
    stamp: Stamp


@dataclass(slots=True)
class Walk:
    """What was found. Grows while walking."""

    files: dict[str, Entry] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    obstacles: dict[str, Obstacle] = field(default_factory=dict)
    """By path."""
    seen: set[tuple[int, int]] = field(default_factory=set)
    """Device and inode of every folder."""
    links: list[tuple[str, str, int]] = field(default_factory=list)
    """Links to folders that are not followed yet: path, place and depth. A folder is listed under its own name first."""


_Row: TypeAlias = tuple[str, Kind, Stamp | None]


def walk_folder(jail: Jail, *, path: str, place: str, into: Walk) -> None:
    """Add everything below a folder. A folder that does not exist adds nothing. Links to folders wait for `follow_links`."""
    _walk(jail, [(path, place, 0)], into, is_linked=False)


def follow_links(jail: Jail, into: Walk) -> None:
    """Add what links lead to, once every folder that is to be listed has been walked."""
    while into.links:
        _walk(jail, [into.links.pop()], into, is_linked=True)


def _walk(jail: Jail, waiting: list[tuple[str, str, int]], into: Walk, *, is_linked: bool) -> None:
    while waiting:
        folder, where, depth = waiting.pop()
        if depth > MAX_DEPTH:
            into.obstacles[folder] = Obstacle.TOO_DEEP
            continue
        rows = _list_linked(jail, where, into) if is_linked else _list(jail, where, into)
        if isinstance(rows, Obstacle):
            if depth or rows is not Obstacle.LINK_BROKEN:
                into.obstacles[folder] = rows
            continue
        if depth:
            into.folders.add(folder)
        for name, kind, stamp in rows:
            below = f"{folder}/{name}"
            if kind is Kind.FOLDER:
                waiting.append((below, f"{where}/{name}", depth + 1))
            elif kind is Kind.LINK:
                _follow(jail, below, f"{where}/{name}", depth + 1, into)
            elif not _add_file(below, f"{where}/{name}", kind, stamp, into):
                return


def is_ignored(name: str) -> bool:
    """Whether Unity skips a file or folder of this name."""
    return name.startswith(".") or name.endswith(("~", ".tmp")) or name.lower() == "cvs"


def _add_file(path: str, place: str, kind: Kind, stamp: Stamp | None, into: Walk) -> bool:
    """False: the limit is reached."""
    if kind is not Kind.FILE or stamp is None:
        into.obstacles[path] = Obstacle.SPECIAL
    elif len(into.files) >= MAX_FILES:
        into.obstacles[path] = Obstacle.TOO_MANY
        return False
    else:
        into.files[path] = Entry(path, place, stamp)
    return True


def _follow(jail: Jail, path: str, place: str, depth: int, into: Walk) -> None:
    """A link: a file is listed under its own name, a folder is entered later."""
    try:
        look = jail.stat(place)
    except Refused as exc:
        is_outside = exc.failure.code == "OUTSIDE_WORKSPACE"
        into.obstacles[path] = Obstacle.LINK_OUTSIDE if is_outside else Obstacle.LINK_BROKEN
        return
    if look.kind is Kind.FOLDER:
        into.links.append((path, place, depth))
        return
    _add_file(path, place, look.kind, Stamp(look.size, look.modified_ns, look.modified_ns, look.identity[1]), into)


def _list(jail: Jail, place: str, into: Walk) -> list[_Row] | Obstacle:
    """The rows of a folder that no link leads to."""
    try:
        folder = jail.enter(place)
    except Refused as exc:
        return Obstacle.LINK_BROKEN if exc.failure.code == "PATH_NOT_FOUND" else Obstacle.UNREADABLE
    with closing(folder):
        target = folder.scan_target()
        found = os.stat(target)  # noqa: PTH116 - the target may be a descriptor
        if (found.st_dev, found.st_ino) in into.seen:
            return Obstacle.LINK_LOOP
        into.seen.add((found.st_dev, found.st_ino))
        try:
            with os.scandir(target) as entries:
                return sorted(_rows(entries, place, into))
        except OSError:
            return Obstacle.UNREADABLE


def _rows(entries: Iterator[os.DirEntry[str]], place: str, into: Walk) -> Iterator[_Row]:
    for entry in entries:
        if is_ignored(entry.name):
            continue
        if not _is_utf8(entry.name):
            into.obstacles[f"{place}/{_shown(entry.name)}"] = Obstacle.NOT_UTF8
        elif entry.is_symlink():
            yield entry.name, Kind.LINK, None
        elif entry.is_dir(follow_symlinks=False):
            yield entry.name, Kind.FOLDER, None
        else:
            kind = Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER
            yield entry.name, kind, _stamp(entry)


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    """None: the file has gone since its name was read."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _list_linked(jail: Jail, place: str, into: Walk) -> list[_Row] | Obstacle:
    """The rows of a folder at the end of a link, each looked up on its own."""
    try:
        look = jail.stat(place)
        if look.identity in into.seen:
            return Obstacle.LINK_LOOP
        into.seen.add(look.identity)
        listing = jail.list(place, limit=MAX_NAMES)
    except Refused:
        return Obstacle.UNREADABLE
    rows = []
    for name, kind in listing.entries:
        if not is_ignored(name):
            rows.append((name, kind, _linked_stamp(jail, f"{place}/{name}") if kind is Kind.FILE else None))
    return rows


def _linked_stamp(jail: Jail, place: str) -> Stamp | None:
    try:
        look = jail.stat(place)
    except Refused:
        return None
    return Stamp(look.size, look.modified_ns, look.modified_ns, look.identity[1])


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")
