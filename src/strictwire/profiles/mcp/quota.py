"""Sessions that are kept for callers: how many, for whom, and for how long.

No caller can take the sessions of all others: each has a quota, and if there is no room at all, the caller with the most
sessions gives one up. A session in the middle of a request is never ended to make room.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

IDLE_SECONDS: Final = 900.0
"""A quarter of an hour without a request: a client that comes back later opens a new session, as the protocol tells it."""

SWEEPS: Final = 4
"""How often within the idle time expired sessions are looked for."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """How many sessions are kept, and for how long."""

    total: int
    per_principal: int
    idle_seconds: float = IDLE_SECONDS
    """A session without a request or an open stream for this long is ended."""


def fair_limits(total: int, *, idle_seconds: float = IDLE_SECONDS, per_principal: int | None = None) -> SessionLimits:
    """Limits under which one principal has at most half of all sessions, or as many as it is given."""
    quota = min(per_principal or max(1, total // 2), total)
    return SessionLimits(total=total, per_principal=quota, idle_seconds=idle_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One session in the decision about room for another."""

    key: str
    principal: str
    is_busy: bool


def find_room(held: Sequence[Holding], principal: str, limits: SessionLimits) -> str | bool:
    """Whether a principal may open one more session: True, False, or the key of the session to end for it.

    `held` is ordered, least recently used first.
    """
    counts = Counter(each.principal for each in held)
    if counts[principal] >= limits.per_principal:
        victims = [each for each in held if each.principal == principal]
    elif len(held) >= limits.total:
        own = counts[principal]
        victims = [each for each in held if each.principal == principal or counts[each.principal] > own]
    else:
        return True
    idle = [each for each in victims if not each.is_busy]
    return max(idle, key=lambda each: counts[each.principal]).key if idle else False


@dataclass(slots=True)
class _Kept(Generic[Item]):
    principal: str
    item: Item
    used_at: float
    uses: int = 0
    """Open streams."""


class SessionQuota(Generic[Item]):
    """Keeps sessions by key, and ends those that are idle for too long or in the way of another."""

    def __init__(self, limits: SessionLimits, *, is_busy: Callable[[Item], object], end: Callable[[Item], None]) -> None:
        self._limits = limits
        self._is_busy = is_busy
        self._end = end
        self._kept: OrderedDict[str, _Kept[Item]] = OrderedDict()
        self._opening: Counter[str] = Counter()
        self._sweep: asyncio.TimerHandle | None = None

    def make_room(self, principal: str) -> bool:
        """Make room for one more session of a principal; False if there is none."""
        held = [
            *(Holding(key="", principal=name, is_busy=True) for name in self._opening.elements()),
            *(
                Holding(key=key, principal=each.principal, is_busy=bool(self._is_busy(each.item)))
                for key, each in self._kept.items()
            ),
        ]
        room = find_room(held, principal, self._limits)
        if isinstance(room, str):
            self._end(self._kept.pop(room).item)
        return room is not False

    @contextmanager
    def opening(self, principal: str) -> Iterator[None]:
        """Count a session that is being opened."""
        self._opening[principal] += 1
        try:
            yield
        finally:
            self._opening[principal] -= 1

    def add(self, key: str, principal: str, item: Item) -> None:
        """Keep a session."""
        loop = asyncio.get_running_loop()
        self._kept[key] = _Kept(principal, item, loop.time())
        if self._sweep is None:
            self._sweep = loop.call_later(self._limits.idle_seconds / SWEEPS, self._end_idle)

    def find(self, key: str, principal: str) -> Item | None:
        """The session with that key, if it belongs to the principal, which uses it now."""
        kept = self._kept.get(key)
        if kept is None or kept.principal != principal:
            return None
        kept.used_at = asyncio.get_running_loop().time()
        self._kept.move_to_end(key)
        return kept.item

    @contextmanager
    def using(self, key: str) -> Iterator[None]:
        """Keep a session from expiring while a stream of it is open."""
        kept = self._kept[key]
        kept.uses += 1
        try:
            yield
        finally:
            kept.uses -= 1
            kept.used_at = asyncio.get_running_loop().time()

    def remove(self, key: str) -> None:
        """Forget a session that has ended."""
        self._kept.pop(key, None)

    def clear(self) -> list[Item]:
        """Forget all sessions."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        items = [each.item for each in self._kept.values()]
        self._kept.clear()
        return items

    def _end_idle(self) -> None:
        loop = asyncio.get_running_loop()
        for key, each in tuple(self._kept.items()):
            if each.uses or self._is_busy(each.item):
                each.used_at = loop.time()
            elif loop.time() - each.used_at >= self._limits.idle_seconds:
                del self._kept[key]
                self._end(each.item)
        again = self._limits.idle_seconds / SWEEPS
        self._sweep = loop.call_later(again, self._end_idle) if self._kept else None
