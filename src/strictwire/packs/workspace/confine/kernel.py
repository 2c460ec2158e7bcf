"""Access to the kernel through libc, and the exception for a measure that the kernel does not permit."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Final

LIBC: Final = ctypes.CDLL(None, use_errno=True)

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38

_LAST_CAPABILITY: Final = 63
"""Capabilities are bits of a 64-bit mask. Dropping a bit that the kernel does not know fails without effect."""


class Unavailable(Exception):
    """The kernel does not permit a measure, so the program is not started. Carries the name of the measure."""

    def __init__(self, measure: str) -> None:
        super().__init__(measure)
        self.measure = measure


def checked(result: int) -> int:
    """Return the result of a libc function. Raises OSError if it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def kernel_version() -> tuple[int, int]:
    """Return major and minor version of the running kernel."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def drop_privileges() -> None:
    """Drop all capabilities for good, and prevent gaining any through setuid programs. They end with the next exec."""
    for capability in range(_LAST_CAPABILITY + 1):
        LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    checked(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
