"""Reads and writes the objects of a repository. What is read is compared with its hash; what is written is loose."""

from __future__ import annotations

import zlib
from typing import Final

from dulwich.object_format import ObjectFormat

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.root import Links
from strictwire.packs.workspace.file_operations import make_folders
from strictwire.packs.workspace.git.damage import damaged, reading, too_large, unsupported
from strictwire.packs.workspace.git.packs import Packs

MAX_OBJECT: Final = 64 * 1024 * 1024
"""Largest commit or tree that is read: a folder with about a million names."""

MAX_INFLATED: Final = 1024**3
"""Most bytes that are inflated for one commit. Chains of deltas can be much longer than the objects they make."""

_FOLDER: Final = ".git/objects"
_HEADER: Final = 32
"""Bytes that are enough for the header of a loose object: type, size, NUL."""

_ABSENT: Final = frozenset({"FILE_NOT_FOUND", "PATH_NOT_FOUND"})


class Objects:
    """The objects of one repository, for one commit."""

    def __init__(self, jail: Jail, form: ObjectFormat) -> None:
        self.form: Final = form
        self._jail = jail
        self._left = MAX_INFLATED
        self._packs = Packs(jail, form, self._spend)

    def read(self, name: str, kind: bytes) -> bytes:
        """Return the content of an object of this type. Raises Refused: FILE_WRITE_FAILED."""
        found = self._maybe_loose(name) or self._packs.maybe_read(name)
        if found is None:
            raise self._missing(name)
        if found[0] != kind or self._name(kind, found[1]) != name:
            raise damaged(f"object {name}")
        return found[1]

    def write(self, kind: bytes, data: bytes) -> str:
        """Write an object and return its name. An existing file of that name is replaced: its content may be anything."""
        name = self._name(kind, data)
        path = f"{_FOLDER}/{name[:2]}/{name[2:]}"
        make_folders(self._jail, parse_path(path))
        self._jail.write(path, zlib.compress(_header(kind, data) + data, 1))
        return name

    def _maybe_loose(self, name: str) -> tuple[bytes, bytes] | None:
        path = f"{_FOLDER}/{name[:2]}/{name[2:]}"
        try:
            raw = self._jail.read(path, limit=MAX_OBJECT, links=Links.NEVER)
        except Refused as exc:
            if exc.failure.code in _ABSENT:
                return None
            raise damaged(f"object {name}") from exc
        with reading(f"object {name}"):
            inflater = zlib.decompressobj()
            data = inflater.decompress(raw, MAX_OBJECT + _HEADER)
            self._spend(len(data))
            header, content = data.split(b"\0", 1)
            kind, size = header.split(b" ", 1)
            if not inflater.eof or int(size) != len(content):
                raise damaged(f"object {name}")
            return kind, content

    def _spend(self, count: int) -> None:
        self._left -= count
        if count > MAX_OBJECT or self._left < 0:
            raise too_large()

    def _name(self, kind: bytes, data: bytes) -> str:
        return self.form.hash_object_hex(_header(kind, data) + data).decode()

    def _missing(self, name: str) -> Refused:
        try:
            self._jail.stat(f"{_FOLDER}/info/alternates")
        except Refused:
            return damaged(f"object {name}")
        return unsupported("objects of another repository", "run git repack -a -d, then remove .git/objects/info/alternates")


def _header(kind: bytes, data: bytes) -> bytes:
    return b"%s %d\0" % (kind, len(data))
