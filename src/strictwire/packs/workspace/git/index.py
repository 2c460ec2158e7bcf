"""The index: which files are staged. After a commit it must agree with the commit, or git shows its files as reverted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Final

from dulwich.index import SerializedIndexEntry, read_cache_entry, read_index_header, write_index
from dulwich.object_format import ObjectFormat
from dulwich.objects import ObjectID

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.root import Links
from strictwire.packs.workspace.git.damage import damaged, reading, unsupported
from strictwire.packs.workspace.git.trees import Entry

PATH: Final = ".git/index"

_MAX_INDEX: Final = 256 * 1024 * 1024
"""Largest index: a repository with about two million files."""

_MAX_NAME: Final = 0xFFF
"""Longest name whose length fits into the flags of an entry. dulwich does not read longer ones."""

_ABSENT: Final = frozenset({"FILE_NOT_FOUND", "PATH_NOT_FOUND"})


def updated_index(jail: Jail, form: ObjectFormat, changes: Mapping[str, Entry | None]) -> bytes:
    """Return the index with some files staged or removed, and all others as they are. Raises Refused: FILE_WRITE_FAILED."""
    try:
        raw = jail.read(PATH, limit=_MAX_INDEX, links=Links.NEVER)
    except Refused as exc:
        if exc.failure.code not in _ABSENT:
            raise damaged("the index") from exc
        version, entries = 2, list[SerializedIndexEntry]()
    else:
        with reading("the index"):
            version, entries = _parse(raw, form)
    changed = {path.encode(): entry for path, entry in changes.items()}
    added = {name: entry for name, entry in changed.items() if entry is not None}
    # A file gives way to a folder of the same name, and the files in a folder to a file.
    folders = {folder for name in added for folder in _above(name)}
    kept = [
        entry
        for entry in entries
        if entry.name not in changed and entry.name not in folders and added.keys().isdisjoint(_above(entry.name))
    ]
    kept += [_staged(name, entry) for name, entry in added.items()]
    made = BytesIO()
    write_index(made, sorted(kept, key=lambda entry: (entry.name, entry.flags & 0x3000)), version, object_format=form)
    return made.getvalue() + form.hash_object(made.getvalue())


def _parse(raw: bytes, form: ObjectFormat) -> tuple[int, list[SerializedIndexEntry]]:
    end = len(raw) - form.oid_length
    # With index.skipHash the checksum is zero.
    if raw[end:] not in (form.hash_object(raw[:end]), bytes(form.oid_length)):
        raise damaged("the index")
    file = BytesIO(raw)
    version, count = read_index_header(file)
    entries: list[SerializedIndexEntry] = []
    for _ in range(count):
        entries.append(read_cache_entry(file, version, entries[-1].name if entries else b"", form))
        if len(entries[-1].name) >= _MAX_NAME:
            raise unsupported("file names of more than 4 KB", "rename the file")
    _check_extensions(raw[file.tell() : end])
    return version, entries


def _check_extensions(raw: bytes) -> None:
    """Raises Refused: FILE_WRITE_FAILED for an extension that must be understood. Others are caches that git makes anew."""
    place = 0
    while place < len(raw):
        if not b"A" <= raw[place : place + 1] <= b"Z":
            raise unsupported(
                "a split or sparse index", "run git update-index --no-split-index, git sparse-checkout disable"
            )
        place += 8 + int.from_bytes(raw[place + 4 : place + 8])


def _above(name: bytes) -> Iterator[bytes]:
    """Yield the folders above a file."""
    while b"/" in name:
        name = name.rpartition(b"/")[0]
        yield name


def _staged(name: bytes, entry: Entry) -> SerializedIndexEntry:
    """Return an entry without times, so that git compares the file when it looks at it next."""
    mode, sha = entry
    return SerializedIndexEntry(
        name=name, ctime=(0, 0), mtime=(0, 0), dev=0, ino=0, mode=mode, uid=0, gid=0, size=0,
        sha=ObjectID(sha), flags=0, extended_flags=0,
    )  # fmt: skip
