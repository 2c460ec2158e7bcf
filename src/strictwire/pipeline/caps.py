"""Bounds on what runs at once. Past them a call is refused at once: waiting in a queue only hides overload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

MAX_RUNNING: Final = 4096
"""Calls in flight in one process, all tools together: at 10 KB each they hold 40 MB."""


@dataclass(slots=True)
class Gate:
    """Counts what runs, in one tool and in all. A parent has no parent itself."""

    limit: int
    parent: Gate | None = None
    running: int = field(default=0)

    def enter(self) -> bool:
        """Take a place; False if there is none."""
        if self.is_full:
            return False
        self.take()
        return True

    def take(self) -> None:
        """Take a place that was seen to be there."""
        self.running += 1
        if self.parent is not None:
            self.parent.running += 1

    @property
    def is_full(self) -> bool:
        """Whether there is no place."""
        parent = self.parent
        return self.running >= self.limit or (parent is not None and parent.running >= parent.limit)

    def leave(self) -> None:
        """Give the place back."""
        self.running -= 1
        if self.parent is not None:
            self.parent.running -= 1
