"""The same promise as `openat2`, kept segment by segment: each is opened without following a link.

A link is read and its target walked in its place, from the folder that holds it; `..` in a target goes back to the
folder we came from, which is still open, so nothing that is renamed meanwhile can lead outside.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from strictwire.packs.kit.ground import STEP, Links
from strictwire.packs.kit.path import JailPath

_MAX_LINKS: Final = 40
"""Links on one way: what Linux follows."""

_MAYBE_A_LINK: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""What systems say to O_NOFOLLOW on a link; ENOTDIR also of a file."""


def open_beneath(root: int, path: JailPath, flags: int, links: Links) -> int:
    """See ground.OpenBeneath. Raises OSError."""
    walk = _Walk(root, path, links)
    try:
        return walk.open(flags)
    finally:
        walk.close()


class _Walk:
    """One way through the root: the segments to come, and the folders behind."""

    def __init__(self, root: int, path: JailPath, links: Links) -> None:
        self._root = root
        self._links = links
        self._met = 0
        self._behind: list[int] = []
        self._ahead = [segment.encode() for segment in reversed(path.segments)]
        # A dot at the end opens the folder itself, and so refuses what is not one.
        if path.folder or not self._ahead:
            self._ahead.insert(0, b".")

    def open(self, flags: int) -> int:
        """Walk to the end and open it. Raises OSError."""
        while True:
            name = self._ahead.pop()
            if name == b"..":
                self._go_back()
            elif self._ahead:
                self._go_through(name)
            elif (handle := self._maybe_open(name, flags)) is not None:
                return handle

    def close(self) -> None:
        """Close the folders behind."""
        while self._behind:
            os.close(self._behind.pop())

    @property
    def _here(self) -> int:
        return self._behind[-1] if self._behind else self._root

    def _go_back(self) -> None:
        if not self._behind:
            raise _error(errno.EXDEV)
        os.close(self._behind.pop())
        if not self._ahead:
            self._ahead.append(b".")

    def _go_through(self, name: bytes) -> None:
        if name == b".":
            return
        folder = self._maybe_open(name, STEP)
        if folder is not None:
            self._behind.append(folder)

    def _maybe_open(self, name: bytes, flags: int) -> int | None:
        """A descriptor that is no link's; None if it is a link, whose target is now ahead."""
        try:
            handle = os.open(name, flags | os.O_NOFOLLOW, dir_fd=self._here)
        except OSError as exc:
            if exc.errno not in _MAYBE_A_LINK:
                raise
            self._turn_into(name, exc)
            return None
        # To look without opening (O_PATH) takes a link for what it is instead of refusing it.
        if not stat.S_ISLNK(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
        self._turn_into(name, _error(errno.ELOOP))
        return None

    def _turn_into(self, name: bytes, refusal: OSError) -> None:
        """Put the target of a link ahead. Raises OSError: not a link (the refusal), not to be followed, too many."""
        try:
            target = os.readlink(name, dir_fd=self._here)
        except OSError:
            raise refusal from None
        self._met += 1
        if self._links is Links.NEVER or self._met > _MAX_LINKS:
            raise _error(errno.ELOOP)
        if target.startswith(b"/"):
            raise _error(errno.EXDEV)
        parts = [part or b"." for part in target.split(b"/")]
        self._ahead.extend(reversed(parts))


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
