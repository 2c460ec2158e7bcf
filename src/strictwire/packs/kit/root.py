"""The root folder of a jail, and path lookup beneath it that never leaves it.

`DescriptorRoot` looks paths up relative to a file descriptor of the root: with `openat2` where the kernel has it,
`segmentwise` elsewhere. `by_name` is for systems without folder descriptors. Errors are plain OSError; EXDEV has one added
meaning: the path leads outside the root. `jail` maps errors to failure codes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, TypeAlias

from strictwire.packs.kit.path import JailPath


def _flag(name: str) -> int:
    """Return the value of an `os.open` flag, or 0 if this system does not have it."""
    return int(getattr(os, name, 0))


_COMMON: Final = _flag("O_CLOEXEC") | _flag("O_NOINHERIT") | _flag("O_BINARY") | _flag("O_NOCTTY")

READ: Final = os.O_RDONLY | _flag("O_NONBLOCK") | _COMMON
"""Open a file for reading. O_NONBLOCK: opening a FIFO without a writer returns at once instead of blocking; the jail then
refuses it because it is not a regular file."""

FOLDER: Final = os.O_RDONLY | _flag("O_DIRECTORY") | _flag("O_NONBLOCK") | _flag("O_CLOEXEC")
"""Open a folder to list it or to create files in it."""

TRAVERSE: Final = (_flag("O_PATH") or _flag("O_SEARCH")) | _flag("O_DIRECTORY") | _flag("O_CLOEXEC")
"""Open a folder only to traverse it. With O_PATH or O_SEARCH this needs no permission to list the folder."""

STAT: Final = (_flag("O_PATH") or os.O_RDONLY | _flag("O_NONBLOCK")) | _flag("O_CLOEXEC")
"""Open a file only to stat it. With O_PATH (Linux) this needs no read permission and does not open a device."""

CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_NOFOLLOW") | _COMMON
"""Create a file; fails if the name exists."""


class Links(Enum):
    """How symbolic links in a path are treated."""

    INSIDE = "inside"
    """Follow a link if every step of it stays beneath the root. A link with an absolute target is outside."""
    NEVER = "never"
    """Fail with ELOOP at a link. Used for writing, so that the path that was checked is the path that is changed."""


class Resolution(Enum):
    """How paths are looked up, from strongest to weakest."""

    KERNEL = "openat2"
    """One `openat2` call; the kernel itself keeps the lookup beneath the root. Linux 5.6 and later."""
    SEGMENTWISE = "segmentwise"
    """Segment by segment, each opened without following links. Needs folder descriptors (`dir_fd`)."""
    BY_NAME = "by_name"
    """By name: resolved before opening and compared again after it. `by_name` describes the race this leaves open."""


def _permit_any(_name: str) -> None:
    """Permit every name: the folder has no guard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFolder:
    """An open folder. System calls on a file in it take `handle` as `dir_fd` and `at(name)` as the path."""

    handle: int | None
    """The folder's descriptor; None on systems where files are addressed by full name."""
    prefix: bytes = b""
    """The folder's full name with a separator at the end; empty if there is a descriptor."""
    check_name: Callable[[str], None] = _permit_any
    """Raises Refused if a file of this name may not be changed. See `jail.Guard`."""

    def at(self, name: str) -> bytes:
        """Return the path argument for a file in this folder, to be used with `dir_fd=handle`. Raises Refused."""
        self.check_name(name)
        return self.prefix + name.encode()

    @property
    def descriptor(self) -> int:
        """The folder's descriptor. Raises RuntimeError on systems where there is none."""
        if self.handle is None:
            raise RuntimeError("this system has no folder descriptors")
        return self.handle

    def scan_target(self) -> int | str:
        """Return the argument for `os.scandir`."""
        return os.fsdecode(self.prefix) if self.handle is None else self.handle

    def sync(self) -> None:
        """Sync the folder, so that its names survive a power failure. Does nothing without a descriptor."""
        if self.handle is not None:
            os.fsync(self.handle)

    def close(self) -> None:
        """Close the descriptor."""
        if self.handle is not None:
            os.close(self.handle)


class Root(Protocol):
    """One root folder. Every method raises OSError; EXDEV means that the path leads outside."""

    def open(self, path: JailPath, links: Links) -> int:
        """Open whatever is at the path for reading and return the descriptor."""

    def stat(self, path: JailPath, links: Links) -> os.stat_result:
        """Return the status of whatever is at the path."""

    def enter(self, path: JailPath, links: Links) -> OpenFolder:
        """Open a folder. The caller closes it."""

    def close(self) -> None:
        """Release the root."""


OpenBeneath: TypeAlias = Callable[[int, JailPath, int, Links], int]
"""(root descriptor, path, flags, links) -> descriptor. Raises OSError: EXDEV if the path leads outside, ELOOP at a link
that must not be followed."""


class DescriptorRoot:
    """A root held open by its descriptor. Renaming or replacing the root folder afterwards has no effect on it."""

    def __init__(self, root: bytes, open_beneath: OpenBeneath) -> None:
        self._root = os.open(root, TRAVERSE)
        self._open = open_beneath

    def open(self, path: JailPath, links: Links) -> int:
        """See Root.open."""
        return self._open(self._root, path, READ, links)

    def stat(self, path: JailPath, links: Links) -> os.stat_result:
        """See Root.stat."""
        handle = self._open(self._root, path, STAT, links)
        try:
            return os.fstat(handle)
        finally:
            os.close(handle)

    def enter(self, path: JailPath, links: Links) -> OpenFolder:
        """See Root.enter."""
        return OpenFolder(handle=self._open(self._root, path, FOLDER, links))

    def close(self) -> None:
        """See Root.close."""
        os.close(self._root)


def os_error(number: int) -> OSError:
    """Return the OSError that a system call failing with this number would raise."""
    return OSError(number, os.strerror(number))
