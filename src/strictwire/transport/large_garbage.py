"""Runs the garbage collector after many bytes of large messages.

Python's collector counts objects, not bytes. A call with an argument of 3 MB makes few objects, so a reference cycle in its
handler keeps the argument for hundreds of calls: 120 calls of a handler whose `asyncio.TaskGroup` failed left 690 MB.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Final

LARGE: Final = 256 * 1024
"""Bytes of a message that counts. The objects of many smaller ones make the collector run by itself."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""Bytes of large messages between two runs. Decoded, with their answers, they take two or three times as much."""

TIMES: Final = 20
"""A run takes at most this part of the time, 5 %, however many objects the process has. It takes 10 to 20 ms for a server
that has just started."""


class LargeGarbage:
    """The large messages since the collector last ran."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, collect: Callable[[], object] = gc.collect) -> None:
        self._clock, self._collect = clock, collect
        self._bytes = 0
        self._not_before = 0.0

    def note(self, size: int) -> None:
        """Count a message, before it is decoded. An author who has switched the collector off is left alone."""
        if size < LARGE:
            return
        self._bytes += size
        if self._bytes < MAX_BYTES or not gc.isenabled():
            return
        began = self._clock()
        if began < self._not_before:
            return
        self._bytes = 0
        self._collect()
        ended = self._clock()
        self._not_before = ended + TIMES * (ended - began)
