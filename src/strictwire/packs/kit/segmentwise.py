"""Path lookup segment by segment, with the same guarantee as `openat2`: each segment is opened without following links.

A link is read, and its target is walked in its place, starting from the folder that contains the link. A `..` in a target
returns to the folder the walk came from, which is still open. Renames during the walk therefore cannot lead outside.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.root import TRAVERSE, Links, os_error

_MAX_LINKS: Final = 40
"""Links followed in one lookup: the limit of Linux."""

_MAYBE_A_LINK: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""Errors that O_NOFOLLOW gives for a link: ELOOP (POSIX), EMLINK (FreeBSD), ENOTDIR (with O_DIRECTORY; also for a file)."""


def open_beneath(root: int, path: JailPath, flags: int, links: Links) -> int:
    """See root.OpenBeneath. Raises OSError."""
    walk = _Walk(root, path, links)
    try:
        return walk.open(flags)
    finally:
        walk.close()


class _Walk:
    """One lookup: a stack of segments to walk, and a stack of the folders that are open."""

    def __init__(self, root: int, path: JailPath, links: Links) -> None:
        self._root = root
        self._links = links
        self._links_followed = 0
        self._open_folders: list[int] = []
        self._remaining = [segment.encode() for segment in reversed(path.segments)]
        # A final "." opens the folder itself, which fails with ENOTDIR if it is not a folder.
        if path.folder or not self._remaining:
            self._remaining.insert(0, b".")

    def open(self, flags: int) -> int:
        """Walk to the end of the path and open it. Raises OSError."""
        while True:
            name = self._remaining.pop()
            if name == b"..":
                self._go_up()
            elif self._remaining:
                self._go_down(name)
            elif (handle := self._maybe_open(name, flags)) is not None:
                return handle

    def close(self) -> None:
        """Close the folders that the walk opened."""
        while self._open_folders:
            os.close(self._open_folders.pop())

    @property
    def _current(self) -> int:
        return self._open_folders[-1] if self._open_folders else self._root

    def _go_up(self) -> None:
        if not self._open_folders:
            raise os_error(errno.EXDEV)
        os.close(self._open_folders.pop())
        if not self._remaining:
            self._remaining.append(b".")

    def _go_down(self, name: bytes) -> None:
        if name == b".":
            return
        folder = self._maybe_open(name, TRAVERSE)
        if folder is not None:
            self._open_folders.append(folder)

    def _maybe_open(self, name: bytes, flags: int) -> int | None:
        """Open a name in the current folder. Returns None if it is a link; its target is then next on the stack."""
        try:
            handle = os.open(name, flags | os.O_NOFOLLOW, dir_fd=self._current)
        except OSError as exc:
            if exc.errno not in _MAYBE_A_LINK:
                raise
            self._expand_link(name, exc)
            return None
        # O_PATH with O_NOFOLLOW opens the link itself instead of failing with ELOOP.
        if not stat.S_ISLNK(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
        self._expand_link(name, os_error(errno.ELOOP))
        return None

    def _expand_link(self, name: bytes, error: OSError) -> None:
        """Push the target of a link. Raises OSError: `error` if it is not a link, ELOOP too many or not allowed, EXDEV."""
        try:
            target = os.readlink(name, dir_fd=self._current)
        except OSError:
            raise error from None
        self._links_followed += 1
        if self._links is Links.NEVER or self._links_followed > _MAX_LINKS:
            raise os_error(errno.ELOOP)
        if target.startswith(b"/"):
            raise os_error(errno.EXDEV)
        parts = [part or b"." for part in target.split(b"/")]
        self._remaining.extend(reversed(parts))
