"""The ground a jail stands on: one folder, and looking things up beneath it without ever leaving it.

`Descriptors` looks up relative to the root's descriptor, by `openat2` where the kernel has it and stepwise elsewhere;
`realpaths` is for systems without descriptors of folders. Errors are the operating system's own (OSError), with one
meaning added: EXDEV says that the path lands outside. Codes are given above, in `jail`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, TypeAlias

from strictwire.packs.kit.path import JailPath


def _flag(name: str) -> int:
    """A flag of `open`; nothing where the system has no such flag."""
    return int(getattr(os, name, 0))


_ALWAYS: Final = _flag("O_CLOEXEC") | _flag("O_NOINHERIT") | _flag("O_BINARY") | _flag("O_NOCTTY")

READ: Final = os.O_RDONLY | _flag("O_NONBLOCK") | _ALWAYS
"""Open a file for reading. Never waits: a FIFO without a writer opens at once and is then refused for what it is."""

FOLDER: Final = os.O_RDONLY | _flag("O_DIRECTORY") | _flag("O_NONBLOCK") | _flag("O_CLOEXEC")
"""Open a folder, to list it or to make files in it."""

STEP: Final = (_flag("O_PATH") or _flag("O_SEARCH")) | _flag("O_DIRECTORY") | _flag("O_CLOEXEC")
"""Go through a folder. Where the system has a flag for it, that asks for no right to list it."""

LOOK: Final = (_flag("O_PATH") or os.O_RDONLY | _flag("O_NONBLOCK")) | _flag("O_CLOEXEC")
"""See what stands there. On Linux that asks for no right to read it, and wakes no device."""

CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_NOFOLLOW") | _ALWAYS
"""Make a file that was not there."""


class Links(Enum):
    """What a link on the way means."""

    INSIDE = "inside"
    """It is followed if every step of it stays inside. A link with an absolute target never does."""
    NEVER = "never"
    """It ends the way with ELOOP, so that the path that was judged is the path that is changed."""


class Resolution(Enum):
    """How paths are looked up."""

    KERNEL = "openat2"
    """In one step of the kernel, which keeps to the root by itself. Linux 5.6 and later."""
    STEPWISE = "stepwise"
    """Segment by segment, each opened without following a link. Systems with descriptors of folders."""
    REALPATH = "realpath"
    """By name, resolved before and checked again after opening. See `realpaths` for what that leaves open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder that was reached: names in it are used with both of these."""

    handle: int | None
    """Its descriptor; None where names are used instead."""
    prefix: bytes = b""
    """What goes before a name."""

    def at(self, name: str) -> bytes:
        """The argument that names a file of this folder, together with `handle`."""
        return self.prefix + name.encode()

    def scan_target(self) -> int | str:
        """The argument of `os.scandir`."""
        return os.fsdecode(self.prefix) if self.handle is None else self.handle

    def sync(self) -> None:
        """Return when the names in it survive a power cut, where the system can promise that."""
        if self.handle is not None:
            os.fsync(self.handle)

    def close(self) -> None:
        """Give the descriptor back."""
        if self.handle is not None:
            os.close(self.handle)


class Ground(Protocol):
    """One root."""

    def open(self, path: JailPath) -> int:
        """A descriptor for reading whatever is there; links are followed inside."""

    def look(self, path: JailPath, links: Links) -> os.stat_result:
        """What is there."""

    def enter(self, path: JailPath, links: Links) -> Place:
        """Reach a folder. The caller closes it."""

    def close(self) -> None:
        """Let go of the root."""


OpenBeneath: TypeAlias = Callable[[int, JailPath, int, Links], int]
"""Root, path, flags, links -> descriptor. EXDEV: it lands outside; ELOOP: a link that must not be followed."""


class Descriptors:
    """A root held by its descriptor. Renaming or replacing the root's name afterwards changes nothing."""

    def __init__(self, root: bytes, open_beneath: OpenBeneath) -> None:
        self._root = os.open(root, STEP)
        self._open = open_beneath

    def open(self, path: JailPath) -> int:
        """See Ground."""
        return self._open(self._root, path, READ, Links.INSIDE)

    def look(self, path: JailPath, links: Links) -> os.stat_result:
        """See Ground."""
        handle = self._open(self._root, path, LOOK, links)
        try:
            return os.fstat(handle)
        finally:
            os.close(handle)

    def enter(self, path: JailPath, links: Links) -> Place:
        """See Ground."""
        return Place(handle=self._open(self._root, path, FOLDER, links))

    def close(self) -> None:
        """See Ground."""
        os.close(self._root)
