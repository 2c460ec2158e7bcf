"""The order: what the program is, and which folders, processes and memory it may use. Sent as JSON on stdin."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


class FolderReplaced(Exception):
    """The path of a folder leads to another folder than the one that was checked. Carries the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder by its path, and by device and inode, so that a folder that was swapped in the meantime is noticed."""

    path: str
    identity: tuple[int, int]

    def open(self) -> int:
        """Open the folder without access to its content (O_PATH). Raises FolderReplaced, OSError."""
        handle = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        found = os.fstat(handle)
        if (found.st_dev, found.st_ino) != self.identity:
            os.close(handle)
            raise FolderReplaced(self.path)
        return handle


def folder_at(path: str) -> Folder:
    """Return the folder that is at a path now. Raises OSError."""
    found = os.stat(path, follow_symlinks=False)
    return Folder(path=path, identity=(found.st_dev, found.st_ino))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to start, and how it is confined."""

    program: tuple[str, ...]
    """Absolute path and arguments."""
    writable: tuple[Folder, ...]
    """Folders whose content may be changed. The first one is the working directory, unless `directory` names another."""
    directory: Folder | None = None
    """Working directory that may only be read."""
    hidden: tuple[str, ...] = ()
    """Folders that must not even be read. Everything else may be."""
    pinned: tuple[str, ...] = ()
    """Paths below the working directory that cannot be changed, moved or removed."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Resource limits of each process, by name."""
    processes: int = 0
    """Most processes and threads at once."""
    memory: int = 0
    """Most bytes of memory of all processes together."""

    def render(self) -> bytes:
        """Return the order as JSON. ASCII with escapes, because file names may not be valid UTF-8."""
        return json.dumps(asdict(self)).encode()


def read_order(raw: bytes) -> Order:
    """Parse an order. It comes from the server, so its form is not checked."""
    found = json.loads(raw)
    writable = tuple(map(_read_folder, found.pop("writable")))
    directory = found.pop("directory")
    return Order(writable=writable, directory=None if directory is None else _read_folder(directory), **found)


def _read_folder(found: dict[str, Any]) -> Folder:
    return Folder(path=found["path"], identity=tuple(found["identity"]))
