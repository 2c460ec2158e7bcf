"""How many calls run at once. Past the limit a call is refused at once: a queue would only hide the overload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_RUNNING: Final = 4096
"""Calls in flight in one process, all tools together: at 10 KB each they hold 40 MB."""


@dataclass(slots=True)
class ConcurrencyLimit:
    """Counts running calls of one tool, and of all tools through `parent`. A parent has no parent itself."""

    limit: int
    parent: ConcurrencyLimit | None = None
    running: int = 0

    def enter(self) -> bool:
        """Take a place; False if there is none."""
        parent = self.parent
        if self.running >= self.limit or (parent is not None and parent.running >= parent.limit):
            return False
        self.running += 1
        if parent is not None:
            parent.running += 1
        return True

    def take(self) -> None:
        """Take a place whether or not there is one: for work that cannot be stopped and already runs."""
        self.running += 1
        if self.parent is not None:
            self.parent.running += 1

    def leave(self) -> None:
        """Give the place back."""
        self.running -= 1
        if self.parent is not None:
            self.parent.running -= 1
