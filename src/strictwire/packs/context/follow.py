"""`build --watch`: build once, then again whenever the sources change. The cache is whole at every moment.

What wakes it is a seam: `TreeChanges` watches every folder of the sources.
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
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.kit.watch import Watch

QUIET_SECONDS: Final = 0.2
"""Editors and version control change files in bursts: a build starts when it has been quiet for so long."""

POLL_SECONDS: Final = 2.0
"""Between two comparisons of the tree where there is no kernel queue, and between two questions whether to stop."""

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


class TreeChanges:
    """Changes in every folder of the tree. `stop` is asked at intervals: True ends the wait."""

    def __init__(self, root: Path, *, watch: Watch | None = None, stop: Callable[[], bool] = lambda: False) -> None:
        self._root = root
        self._watch = watch or Watch()
        self._stop = stop

    def arm(self) -> None:
        """See Changes. Folders that are new since the last time are added."""
        self._watch.drain()
        for folder, _, _ in os.walk(self._root):
            with suppress(OSError):  # deleted meanwhile, or not ours to read: the build says so
                self._watch.add(Path(folder))

    def wait(self) -> bool:
        """See Changes."""
        while not self._watch.wait(POLL_SECONDS):
            if self._stop():
                return False
        for _ in range(_MOST_BURSTS):
            self._watch.drain()
            if not self._watch.wait(QUIET_SECONDS):
                break
        return not self._stop()

    def close(self) -> None:
        """Free the watch."""
        self._watch.close()
