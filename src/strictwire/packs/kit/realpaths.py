"""A jail by names alone, for systems without descriptors of folders (Windows).

A path is resolved, must lie in the root, is opened, and then resolved and compared once more before a byte is read. What
that leaves open: whoever can swap folders for links at just the right two moments, between resolving and opening and
again between the second resolving and the comparison, may pass. Where descriptors exist they are used instead. Links
with an absolute target inside the root are followed here, for Windows makes no other kind of junction.
"""

from __future__ import annotations

import errno
import os
import stat

from strictwire.packs.kit.ground import READ, Links, Place
from strictwire.packs.kit.path import JailPath


class RealPaths:
    """A root held by its real name."""

    def __init__(self, root: bytes) -> None:
        self._root = os.path.realpath(root, strict=True)

    def open(self, path: JailPath) -> int:
        """See ground.Ground."""
        handle = os.open(self._resolve(path, Links.INSIDE), READ)
        try:
            found = os.stat(self._resolve(path, Links.INSIDE), follow_symlinks=False)
            if not os.path.samestat(found, os.fstat(handle)):
                raise _error(errno.EXDEV)
        except OSError:
            os.close(handle)
            raise
        return handle

    def look(self, path: JailPath, links: Links) -> os.stat_result:
        """See ground.Ground."""
        return os.stat(self._resolve(path, links), follow_symlinks=False)

    def enter(self, path: JailPath, links: Links) -> Place:
        """See ground.Ground."""
        real = self._resolve(path, links)
        if not stat.S_ISDIR(os.stat(real, follow_symlinks=False).st_mode):
            raise _error(errno.ENOTDIR)
        return Place(handle=None, prefix=os.path.join(real, b""))

    def close(self) -> None:
        """See ground.Ground."""

    def _resolve(self, path: JailPath, links: Links) -> bytes:
        """The real name of what is or would be there. Raises OSError: EXDEV outside, ELOOP a link, ENOTDIR no folder."""
        named = os.path.join(self._root, *(segment.encode() for segment in path.segments))
        real = os.path.realpath(named)
        if not _is_beneath(real, self._root):
            raise _error(errno.EXDEV)
        if links is Links.NEVER and os.path.normcase(real) != os.path.normcase(named):
            raise _error(errno.ELOOP)
        if path.folder and not stat.S_ISDIR(os.stat(real).st_mode):
            raise _error(errno.ENOTDIR)
        return real


def _is_beneath(real: bytes, root: bytes) -> bool:
    real, root = os.path.normcase(real), os.path.normcase(root)
    return real == root or real.startswith(os.path.join(root, b""))


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
