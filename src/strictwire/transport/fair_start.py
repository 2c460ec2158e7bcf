"""Begins requests so that principals take turns when the event loop is busy.

A call that computes holds the event loop. If one principal sends a hundred of those at once, the request of another must not
wait for all of them: only a few are begun in each turn of the loop, one principal after the other. How many is measured, so
that quick calls are not held back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

Begin: TypeAlias = Callable[[], None]

AT_ONCE: Final = 4
"""Requests in flight below which another begins without being counted, which saves two turns of the event loop."""

NOTICED_SECONDS: Final = 0.001
"""An eager task (Python 3.12) that has run for longer, to its end or its first wait, counts too. Most calls take 0.1 ms."""

TURN_SECONDS: Final = 0.02
"""The time that requests begun together may take. With two principals, each waits twice this and for one call to end."""

FIRST_WINDOW: Final = 4
"""Requests begun in the first turn. A handler on a thread shows what its answer costs only some turns later, when three
windows have been begun: with 16, 45 answers of 3.6 MB held the event loop for 0.9 s."""

MAX_WINDOW: Final = 8
"""Requests begun in one turn. More would save little (a turn costs 30 us, a call 100), and all of them may be slow."""


class FairStart:
    """The requests of one listener that wait to be begun, by principal."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, deque[Begin]] = {}
        """The principal whose turn it is comes first."""
        self._window = FIRST_WINDOW
        """Requests that may be begun in one turn."""
        self._begun = 0
        """Requests begun in this turn; 0 outside of one."""
        self._turn_began = 0.0

    def start(self, principal: str, begin: Begin, *, in_flight: int) -> None:
        """Begin a request now, or when it is the turn of its principal."""
        if self._waiting or (self._begun and not self._has_time()):
            self._waiting.setdefault(principal, deque()).append(begin)
        elif self._begun or in_flight >= AT_ONCE:
            self._begin(begin)
        else:
            began = self._loop.time()
            begin()
            if self._loop.time() - began > NOTICED_SECONDS:
                self._count(began)

    def _has_time(self) -> bool:
        return self._begun < self._window and self._loop.time() - self._turn_began <= TURN_SECONDS

    def _begin(self, begin: Begin) -> None:
        self._count(self._loop.time())
        begin()

    def _count(self, now: float) -> None:
        self._begun += 1
        if self._begun == 1:
            self._turn_began = now
            # Before Python 3.12 a task runs in the turn after the one that created it, so a turn ends after two.
            self._loop.call_soon(self._loop.call_soon, self._end_turn)

    def _end_turn(self) -> None:
        """Fit the window to the time that the last one took, and begin what waits."""
        seconds = self._loop.time() - self._turn_began
        if seconds > TURN_SECONDS:
            self._window = max(1, int(self._begun * TURN_SECONDS / seconds))
        else:
            self._window = min(self._window + 1, MAX_WINDOW)
        self._begun = 0
        while self._waiting and (not self._begun or self._has_time()):
            principal = next(iter(self._waiting))
            queue = self._waiting.pop(principal)
            begin = queue.popleft()
            if queue:
                self._waiting[principal] = queue  # at the end: the others come first
            self._begin(begin)
