"""A root addressed by name, for systems without folder descriptors (Windows).

A path is resolved, checked to lie in the root, and opened; then it is resolved and compared again before a byte is read.
This leaves one race open: an attacker who can swap folders for links twice, between resolving and opening and again
between the second resolving and the comparison, gets past it. Systems with descriptors do not use this module. Links with
an absolute target inside the root are followed here, because Windows junctions are always absolute.
"""

from __future__ import annotations

import errno
import os
import stat

from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.root import READ, Links, OpenFolder, os_error


class NameRoot:
    """A root held by its resolved name."""

    def __init__(self, root: bytes) -> None:
        self._root = os.path.realpath(root, strict=True)

    def open(self, path: JailPath, links: Links) -> int:
        """See Root.open."""
        handle = os.open(self._resolve(path, links), READ)
        try:
            found = os.stat(self._resolve(path, links), follow_symlinks=False)
            if not os.path.samestat(found, os.fstat(handle)):
                raise os_error(errno.EXDEV)
        except OSError:
            os.close(handle)
            raise
        return handle

    def stat(self, path: JailPath, links: Links) -> os.stat_result:
        """See Root.stat."""
        return os.stat(self._resolve(path, links), follow_symlinks=False)

    def enter(self, path: JailPath, links: Links) -> OpenFolder:
        """See Root.enter."""
        real = self._resolve(path, links)
        if not stat.S_ISDIR(os.stat(real, follow_symlinks=False).st_mode):
            raise os_error(errno.ENOTDIR)
        return OpenFolder(handle=None, prefix=os.path.join(real, b""))

    def close(self) -> None:
        """See Root.close. There is nothing to release."""

    def _resolve(self, path: JailPath, links: Links) -> bytes:
        """Return the resolved name, whether or not the file exists.

        Raises OSError: EXDEV outside the root, ELOOP a link that must not be followed, ENOTDIR not a folder.
        """
        named = os.path.join(self._root, *(segment.encode() for segment in path.segments))
        real = os.path.realpath(named)
        if not _is_beneath(real, self._root):
            raise os_error(errno.EXDEV)
        if links is Links.NEVER and os.path.normcase(real) != os.path.normcase(named):
            raise os_error(errno.ELOOP)
        if path.folder and not stat.S_ISDIR(os.stat(real).st_mode):
            raise os_error(errno.ENOTDIR)
        return real


def _is_beneath(real: bytes, root: bytes) -> bool:
    real, root = os.path.normcase(real), os.path.normcase(root)
    return real == root or real.startswith(os.path.join(root, b""))
