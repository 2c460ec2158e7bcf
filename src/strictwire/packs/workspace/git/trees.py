"""Builds the tree of a commit: that of its parent with some files replaced, added or removed."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from typing import Final, NewType

from dulwich.objects import ObjectID, parse_tree, serialize_tree, sorted_tree_items

from strictwire.packs.workspace.git.damage import reading
from strictwire.packs.workspace.git.objects import Objects

Entry = NewType("Entry", tuple[int, bytes])
"""Mode, and the name of an object in hex."""

_Folder = dict[bytes, Entry]
_Names = tuple[bytes, ...]

FOLDER_MODE: Final = 0o40000


def write_tree(objects: Objects, parent: str | None, changes: Mapping[str, Entry | None]) -> str:
    """Write the tree and return its name. `parent` is a tree; None in a change removes the file. Raises Refused."""
    files = {tuple(path.encode().split(b"/")): entry for path, entry in changes.items()}
    folders = _load(objects, parent, {names[:depth] for names in files for depth in range(1, len(names))})
    for names, entry in files.items():
        if entry is None:
            _remove_file(folders[names[:-1]], names[-1])
        else:
            folders[names[:-1]][names[-1]] = entry
    # From the deepest folders up. Not recursive: a path can have more segments than Python has stack frames.
    for names in sorted(folders.keys() - {()}, key=len, reverse=True):
        _put(objects, folders[names[:-1]], names[-1], folders[names])
    return _write(objects, folders[()])


def _load(objects: Objects, parent: str | None, touched: set[_Names]) -> dict[_Names, _Folder]:
    folders: dict[_Names, _Folder] = {(): _read(objects, parent) if parent else {}}
    for names in sorted(touched, key=len):
        entry = folders[names[:-1]].get(names[-1])
        folders[names] = _read(objects, entry[1].decode()) if entry and stat.S_ISDIR(entry[0]) else {}
    return folders


def _put(objects: Objects, above: _Folder, name: bytes, folder: _Folder) -> None:
    """Put a folder into the one above it. git has no empty folders."""
    if folder:
        above[name] = Entry((FOLDER_MODE, _write(objects, folder).encode()))
    elif name in above and stat.S_ISDIR(above[name][0]):
        del above[name]


def _remove_file(folder: _Folder, name: bytes) -> None:
    if name in folder and not stat.S_ISDIR(folder[name][0]):
        del folder[name]


def _read(objects: Objects, name: str) -> _Folder:
    data = objects.read(name, b"tree")
    with reading(f"tree {name}"):
        return {entry: Entry((mode, sha)) for entry, mode, sha in parse_tree(data, objects.form.oid_length)}


def _write(objects: Objects, folder: _Folder) -> str:
    entries = {name: (mode, ObjectID(sha)) for name, (mode, sha) in folder.items()}
    return objects.write(b"tree", b"".join(serialize_tree(sorted_tree_items(entries, name_order=False))))
