"""Calls that are put off until everything that came together has been begun.

Records share a write and answers share a system call only if somebody waits until there are no more of them. A transport
hands on what one read brought inside `with soon:`, and whoever gathers is called at its end: sooner than in the next turn of
the event loop, which it is where nothing came together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol
from weakref import ref

from strictwire.pipeline.loops import one_of_each


class Look(Protocol):
    """Whatever looks for messages at the beginning of each turn of an event loop."""

    found: int
    """How many were there when it last looked."""


class Soon:
    """What is put off on one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = ref(loop)
        self._put_off: list[Callable[[], Any]] = []
        self.depth = 0
        """How often it was entered and not left."""
        self.is_dear = False
        """Whether what is put off takes so long that it is better done once for all. Set by whoever puts it off."""
        self.look: Look | None = None
        """Set by whoever made the event loop, if it can tell."""

    @property
    def is_quiet(self) -> bool:
        """Whether nothing new came in this turn of the event loop, or nobody knows."""
        return self.look is None or self.look.found == 0

    def call(self, callback: Callable[[], Any]) -> None:
        """Have it called when everything was begun, or in the next turn of the event loop."""
        if self.depth:
            self._put_off.append(callback)
        else:
            self._call_soon(callback)

    def _call_soon(self, callback: Callable[[], Any]) -> None:
        loop = self._loop()
        if loop is not None:
            loop.call_soon(callback)

    def __enter__(self) -> None:
        """From here on calls are put off."""
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        """Make the calls, and those that they put off; inside another block that is left to the end of that."""
        put_off = self._put_off
        if self.depth > 1 or not put_off:
            self.depth -= 1
            return
        done = 0
        try:
            for callback in put_off:  # grows meanwhile
                done += 1
                callback()
        finally:
            self._put_off = []
            self.depth -= 1
            for callback in put_off[done:]:
                self._call_soon(callback)


soon_of = one_of_each(Soon)
"""The one of an event loop: transports and recorders meet there without knowing each other."""
