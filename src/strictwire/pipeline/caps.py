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
        if self.running >= self.limit or (self.parent is not None and not self.parent.enter()):
            return False
        self.running += 1
        return True

    def leave(self) -> None:
        """Give the place back."""
        self.running -= 1
        if self.parent is not None:
            self.parent.running -= 1
