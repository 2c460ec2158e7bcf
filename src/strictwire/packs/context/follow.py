"""`build --watch`: build once, then again whenever the sources change. The cache is whole at every moment.

What wakes it is a seam: a kernel queue over the source folders, or comparing the tree at intervals.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from strictwire.packs.context.build import Built, Order, Progress, build
from strictwire.packs.context.ingest import NotBuilt, Stamp, look, walk
from strictwire.packs.context.inotify import Inotify

QUIET_SECONDS: Final = 0.2
"""Editors and version control change files in bursts: a build starts when it has been quiet for so long."""

POLL_SECONDS: Final = 2.0
"""Between two looks at the tree where there is no kernel queue."""

_MOST_BURSTS: Final = 25
"""A tree that is never quiet is built every five seconds."""


class Changes(Protocol):
    """Wakes the loop."""

    def arm(self) -> None:
        """Watch the tree from its present state. Called before each build, so that no change falls in between."""

    def wait(self) -> bool:
        """Wait for a change; False means stop."""


def follow(
    order: Order,
    *,
    changes: Changes,
    now: Callable[[], datetime],
    report: Callable[[Built | NotBuilt], None],
    progress: Progress = lambda _done, _all: None,
) -> None:
    """Build, report, wait, and so on until `changes` says stop.

    A later build that fails is reported and the last good cache stays. Raises NotBuilt if the first one fails.
    """
    changes.arm()
    built = build(order, now=now, progress=progress)
    report(built)
    again = replace(order, force=True)
    while changes.wait():
        changes.arm()
        try:
            built = build(again, now=now, earlier=built, progress=progress)
        except NotBuilt as refused:
            report(refused)
        else:
            report(built)


class TreeEvents:
    """Changes from the kernel, for every folder of the tree. Raises OSError where the kernel has no queue or watch left."""

    def __init__(self, root: Path, *, stop: Callable[[], bool] = lambda: False) -> None:
        self._root = root
        self._stop = stop
        self._queue = Inotify()

    def arm(self) -> None:
        """See Changes. Watching a folder twice is watching it once."""
        for _ in self._queue.drain():
            pass
        for folder, _, _ in os.walk(os.fsencode(self._root)):
            try:
                self._queue.add(folder)
            except FileNotFoundError:
                continue

    def wait(self) -> bool:
        """See Changes."""
        while not self._queue.wait(POLL_SECONDS):
            if self._stop():
                return False
        for _ in range(_MOST_BURSTS):
            for _ in self._queue.drain():
                pass
            if not self._queue.wait(QUIET_SECONDS):
                break
        return not self._stop()

    def close(self) -> None:
        """Free the queue."""
        self._queue.close()


class TreeLooks:
    """Changes by comparing the tree at intervals: anywhere, and slower. `pause` waits; False from it means stop."""

    def __init__(self, root: Path, *, pause: Callable[[float], bool]) -> None:
        self._root = os.fsencode(root)
        self._pause = pause
        self._seen: dict[str, Stamp] = {}

    def arm(self) -> None:
        """See Changes."""
        self._seen = self._look()

    def wait(self) -> bool:
        """See Changes."""
        while self._pause(POLL_SECONDS):
            if self._look() != self._seen:
                return True
        return False

    def close(self) -> None:
        """There is nothing to free."""

    def _look(self) -> dict[str, Stamp]:
        seen: dict[str, Stamp] = {}
        try:
            for source in walk(self._root, lambda _name: True):
                with suppress(FileNotFoundError):
                    seen[source.relative] = look(source)
        except (NotBuilt, OSError):
            # The build will say what is wrong with the tree; an empty look differs from any other.
            return {}
        return seen
