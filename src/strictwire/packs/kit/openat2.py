"""Path lookup with Linux `openat2`: the kernel resolves the whole path in one call and refuses to leave the root.

Python has no wrapper for it, so it is called by its number. `is_available` tries it once, because containers (seccomp) may
forbid the call even where the kernel has it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from functools import cache
from typing import Any, Final

from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.root import TRAVERSE, Links, os_error

_NUMBER: Final = 437
"""System call number on the machines listed below. A few other architectures use another number; they use `segmentwise`."""

_MACHINES: Final = frozenset(
    {"x86_64", "i686", "i386", "aarch64", "armv7l", "armv6l", "riscv64", "ppc64le", "ppc64", "s390x", "loongarch64"}
)

# RESOLVE_* flags from linux/openat2.h.
_NO_MAGICLINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08

_RESOLVE: Final = {
    Links.INSIDE: _BENEATH | _NO_MAGICLINKS,
    Links.NEVER: _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS,
}

_TRIES: Final = 128
"""Attempts before EAGAIN is passed on. The kernel returns EAGAIN if a folder was moved while it followed a `..` in a link.
Ordinary renames end after a few attempts; only an attacker who keeps renaming gets past this number."""

_RETRYABLE: Final = frozenset({errno.EAGAIN, errno.EINTR})


class _How(ctypes.Structure):
    """`struct open_how`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _syscall() -> Any:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_How), ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call


def open_beneath(root: int, path: JailPath, flags: int, links: Links) -> int:
    """See root.OpenBeneath. Raises OSError."""
    how = _How(flags, 0, _RESOLVE[links])
    text = path.text.encode()
    number = errno.EAGAIN
    for _ in range(_TRIES):
        handle = _syscall()(_NUMBER, root, text, ctypes.byref(how), ctypes.sizeof(how))
        if handle >= 0:
            return int(handle)
        number = ctypes.get_errno()
        if number not in _RETRYABLE:
            break
    raise os_error(number)


@cache
def is_available() -> bool:
    """Return whether the running kernel permits the call."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return False
    root = os.open("/", TRAVERSE)
    try:
        os.close(open_beneath(root, JailPath(segments=(), folder=True), TRAVERSE, Links.INSIDE))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(root)
