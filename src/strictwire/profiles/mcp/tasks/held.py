"""The memory that requests of running tasks take: a transport stops counting a request when it is answered with a task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from strictwire.canon.shape import count_values

MAX_HELD: Final = 64 * 1024 * 1024
"""Bytes of all running tasks, as for the requests in flight of a transport."""

VALUE_BYTES: Final = 128
"""Memory of one decoded value, with its place in an array or object. One with one member takes 200, and counts twice."""


def memory_of(raw: bytes) -> int:
    """About how much a JSON document takes when it is decoded."""
    return len(raw) + VALUE_BYTES * count_values(raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLimits:
    """How much running tasks may hold. No principal can take the share of all others."""

    total: int = MAX_HELD
    per_principal: int = MAX_HELD // 2


class HeldRequests:
    """What running tasks hold, by principal."""

    def __init__(self, limits: HeldLimits | None = None) -> None:
        self._limits = limits or HeldLimits()
        self._of_principal: Counter[str] = Counter()

    def take(self, principal: str, size: int) -> bool:
        """Count bytes. False if there is no room for them."""
        limits, held = self._limits, self._of_principal
        if held[principal] + size > limits.per_principal or held.total() + size > limits.total:
            return False
        held[principal] += size
        return True

    def release(self, principal: str, size: int) -> None:
        """Count no longer."""
        self._of_principal -= Counter({principal: size})  # also forgets a principal without tasks
