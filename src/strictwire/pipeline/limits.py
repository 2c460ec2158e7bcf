"""Limits on concurrent calls and on events per second. A call beyond a limit is refused at once: a queue would only hide
the overload.
"""

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
        """Count one more running call; False if the limit is reached."""
        parent = self.parent
        if self.running >= self.limit or (parent is not None and parent.running >= parent.limit):
            return False
        self.running += 1
        if parent is not None:
            parent.running += 1
        return True

    def take(self) -> None:
        """Count one more even beyond the limit: for work that already runs and cannot be stopped."""
        self.running += 1
        if self.parent is not None:
            self.parent.running += 1

    def leave(self) -> None:
        """Count one less."""
        self.running -= 1
        if self.parent is not None:
            self.parent.running -= 1


ROUNDING: Final = 1e-9
"""Part of a token that counts as rounding: a caller that waited exactly long enough must not be refused for it."""


class TokenBucket:
    """Lets `burst` events pass at once and `per_second` on average. The caller passes the time of a monotonic clock."""

    __slots__ = ("_at", "_burst", "_per_second", "tokens")

    def __init__(self, burst: float, per_second: float, now: float) -> None:
        self.tokens = self._burst = float(burst)
        self._per_second = per_second
        self._at = now

    @property
    def has_token(self) -> bool:
        """Whether an event may pass."""
        return self.tokens >= 1 - ROUNDING

    @property
    def seconds_until_free(self) -> float:
        """How long until the next token, counted from the last refill."""
        return (1 - self.tokens) / self._per_second

    def refill(self, now: float) -> None:
        """Add the tokens of the time since the last refill."""
        self.tokens = min(self.tokens + max(now - self._at, 0.0) * self._per_second, self._burst)
        self._at = now

    def take(self, now: float) -> bool:
        """Take a token; False if there is none."""
        self.refill(now)
        if not self.has_token:
            return False
        self.tokens -= 1
        return True
