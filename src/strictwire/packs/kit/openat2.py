"""`openat2` of Linux: the kernel resolves the whole path in one step and refuses to leave the root.

The C library has no wrapper that Python knows, so it is called by number; `is_available` asks the running kernel once,
because containers may forbid the call.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from functools import cache
from typing import Any, Final

from strictwire.packs.kit.ground import STEP, Links
from strictwire.packs.kit.path import JailPath

_NUMBER: Final = 437
"""Of the call, on every machine named below; a few others count from elsewhere and go stepwise."""

_MACHINES: Final = frozenset(
    {"x86_64", "i686", "i386", "aarch64", "armv7l", "armv6l", "riscv64", "ppc64le", "ppc64", "s390x", "loongarch64"}
)

_NO_MAGICLINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08

_RESOLVE: Final = {
    Links.INSIDE: _BENEATH | _NO_MAGICLINKS,
    Links.NEVER: _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS,
}

_TRIES: Final = 128
"""The kernel gives EAGAIN when a folder moved while `..` of a link was followed. Only an attacker makes that last."""

_AGAIN: Final = frozenset({errno.EAGAIN, errno.EINTR})


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
    """See ground.OpenBeneath. Raises OSError."""
    how = _How(flags, 0, _RESOLVE[links])
    text = path.text.encode()
    number = errno.EAGAIN
    for _ in range(_TRIES):
        handle = _syscall()(_NUMBER, root, text, ctypes.byref(how), ctypes.sizeof(how))
        if handle >= 0:
            return int(handle)
        number = ctypes.get_errno()
        if number not in _AGAIN:
            break
    raise OSError(number, os.strerror(number))


@cache
def is_available() -> bool:
    """Whether this kernel answers the call, here and now."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return False
    root = os.open("/", STEP)
    try:
        os.close(open_beneath(root, JailPath(segments=(), folder=True), STEP, Links.INSIDE))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(root)
