"""How often a caller may call: a bucket of tokens for each limit and principal, filled by a clock that is handed in."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from strictwire.gateway.policy.rules import ANY, Subject

MAX_BUCKETS: Final = 10_000
"""Kept at once; the one that was used longest ago is forgotten first. Tokens are configured, so principals are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """So many calls in so many seconds, for each principal alone."""

    name: str
    calls: int
    seconds: float
    burst: int
    """Calls that may come at once after a pause."""
    tools: tuple[str, ...] = ANY
    principals: tuple[str, ...] = ANY

    def covers(self, subject: Subject) -> bool:
        """Whether the limit counts this call."""
        pairs = ((self.tools, subject.tool), (self.principals, subject.principal))
        return all(any(fnmatchcase(text, pattern) for pattern in patterns) for patterns, text in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """A limit that is used up, and when it is not any more."""

    limit: str
    wait_seconds: float


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Rates:
    """Counts calls. A call that one limit refuses uses up no other."""

    def __init__(self, limits: Sequence[Limit], elapsed: Callable[[], float]) -> None:
        self._limits = tuple(limits)
        self._elapsed = elapsed
        self._buckets: OrderedDict[tuple[str, str], _Bucket] = OrderedDict()

    def take(self, subject: Subject) -> Exceeded | None:
        """Count one call, or say which limit it exceeds: the one that takes longest to be free again."""
        covering = [(limit, self._filled(limit, subject.principal)) for limit in self._limits if limit.covers(subject)]
        short = [
            Exceeded(limit=limit.name, wait_seconds=(1 - bucket.tokens) * limit.seconds / limit.calls)
            for limit, bucket in covering
            if bucket.tokens < 1
        ]
        if short:
            return max(short, key=lambda each: each.wait_seconds)
        for _, bucket in covering:
            bucket.tokens -= 1
        return None

    def _filled(self, limit: Limit, principal: str) -> _Bucket:
        now = self._elapsed()
        key = (limit.name, principal)
        bucket = self._buckets.setdefault(key, _Bucket(float(limit.burst), now))
        self._buckets.move_to_end(key)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(bucket.tokens + max(now - bucket.at, 0.0) * limit.calls / limit.seconds, float(limit.burst))
        bucket.at = now
        return bucket


def wait_ms(exceeded: Exceeded) -> int:
    """Whole milliseconds, rounded up: whoever waits so long finds a token."""
    return math.ceil(exceeded.wait_seconds * 1000)
