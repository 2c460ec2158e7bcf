"""Event loops that tell what a turn found, and stay awake for a moment where messages follow each other closely.

A process that sleeps between two messages pays for it with each of them: it has to be woken, and finds caches cold. Where
the last message came within a moment of the one before, the loop therefore looks a few more times before it sleeps. In a
conversation with one caller that takes about the processor time that being woken does, and answers arrive a quarter sooner;
where a moment brings nothing, the loop sleeps, and goes on sleeping until messages come quickly. It sleeps too where several
came at once: more of them gather meanwhile, and what comes together costs less.

Not for several processes that share the cores: one that stays awake keeps another from running.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import time
from collections.abc import Callable
from typing import Final

from strictwire.pipeline.soon import soon_of

MOMENT: Final = 0.0002
"""Seconds: a caller on the same machine that has its answer asks again within this, and waking takes half as long."""

Ready = list[tuple[selectors.SelectorKey, int]]


class TellingSelector(selectors.DefaultSelector):
    """The system's selector, which tells how many were ready (`pipeline.soon.Look`)."""

    found = 0

    def select(self, timeout: float | None = None) -> Ready:
        """What is ready, within a time; None waits for as long as it takes."""
        ready = super().select(timeout)
        self.found = len(ready)
        return ready


class WakefulSelector(selectors.DefaultSelector):
    """One that sleeps only if a moment of looking brought nothing."""

    found = 0

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__()
        self._clock = clock
        self._awake = False

    def select(self, timeout: float | None = None) -> Ready:
        """What is ready, within a time; None waits for as long as it takes."""
        ready = super().select(timeout) if timeout is not None and timeout <= 0 else self._watch(timeout)
        self.found = len(ready)
        return ready

    def _watch(self, timeout: float | None) -> Ready:
        began = now = self._clock()
        if self._awake:
            ends = began + (MOMENT if timeout is None else min(MOMENT, timeout))
            while now < ends:
                ready = super().select(0)
                if ready:
                    self._awake = len(ready) == 1
                    return ready
                now = self._clock()
        ready = super().select(timeout if timeout is None else max(0.0, timeout - (now - began)))
        self._awake = len(ready) == 1 and self._clock() - began < MOMENT
        return ready


def make_loop(*, wakeful: bool) -> asyncio.AbstractEventLoop:
    """The event loop that the process would have; if it is the usual one, one that tells, and stays awake if it may."""
    loop = asyncio.new_event_loop()
    if type(loop) is not asyncio.SelectorEventLoop:
        return loop
    loop.close()
    selector = WakefulSelector() if wakeful and _count_cores() > 1 else TellingSelector()
    loop = asyncio.SelectorEventLoop(selector)
    soon_of(loop).look = selector
    return loop


def _count_cores() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
