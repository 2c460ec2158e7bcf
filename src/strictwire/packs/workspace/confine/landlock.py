"""Restricts which files a process can open, with Landlock. Rules belong to folders themselves, not to their paths."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from strictwire.packs.workspace.confine.kernel import LIBC, Unavailable, checked

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System call numbers, the same on every architecture. The other constants are from linux/landlock.h."""

_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 2, 4, 8
_READ_ONLY: Final = _EXECUTE | _READ | _READ_FOLDER
_ON_FILES: Final = _EXECUTE | _WRITE | _READ | (1 << 14) | (1 << 15)
"""Rights that a rule for a file may grant; bit 14 is truncate, bit 15 is device ioctl."""

_RIGHTS: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""ABI version to the mask of file rights that it supports."""

_SCOPES: Final = 3
"""Scopes (ABI 6): no signals to processes outside, no abstract Unix sockets."""

DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
"""Devices that every program may use."""


def restrict(*, writable: Iterable[str], readable: Iterable[str]) -> None:
    """Permit opening the given files and folders only. Needs `drop_privileges` before. Raises Unavailable, OSError."""
    version = int(LIBC.syscall(_CREATE, None, 0, 1))
    if version < 1:
        raise Unavailable("landlock")
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    handled = struct.pack("QQQ", rights, 0, _SCOPES if version >= 6 else 0)[:size]
    rules = checked(LIBC.syscall(_CREATE, handled, len(handled), 0))
    for path in readable:
        _permit(rules, path, _READ_ONLY & rights)
    for path in (*writable, *DEVICES):
        _permit(rules, path, rights)
    checked(LIBC.syscall(_RESTRICT, rules, 0))
    os.close(rules)


def _permit(rules: int, path: str, rights: int) -> None:
    """Add a rule. A path that does not exist or cannot be opened gets none, so it stays forbidden."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    granted = rights if stat.S_ISDIR(os.fstat(handle).st_mode) else rights & _ON_FILES
    LIBC.syscall(_ADD, rules, 1, struct.pack("=Qi", granted, handle), 0)
    os.close(handle)


def outside(hidden: Iterable[str]) -> Iterator[str]:
    """Yield every path that does not contain a hidden folder. Landlock can grant rights but not revoke them below.

    Links are left out: one may lead into a hidden folder, and a target elsewhere has its own rule.
    """
    avoided = [os.path.realpath(each) for each in hidden]
    pending = ["/"]
    while pending:
        folder = pending.pop()
        inside = [each for each in avoided if each == folder or each.startswith(folder.rstrip("/") + "/")]
        if not inside:
            yield folder
        elif folder not in inside:
            with suppress(OSError), os.scandir(folder) as found:
                pending += [entry.path for entry in found if not entry.is_symlink()]
