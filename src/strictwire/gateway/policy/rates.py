"""Rate limits: how often each principal may call. One token bucket for each limit and principal."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from strictwire.gateway.policy.rules import ANY, AccessRequest, matches_any
from strictwire.pipeline.call import Kind
from strictwire.pipeline.limits import TokenBucket

MAX_BUCKETS: Final = 10_000
"""Buckets in memory; beyond it the least recently used is dropped. Tokens are configured, so principals are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """At most `calls` in `seconds`, counted for each principal alone."""

    name: str
    calls: int
    seconds: float
    burst: int
    """Calls that may arrive at once after a pause."""
    tools: tuple[str, ...] = ()
    """Patterns of tools. Without one, every call counts: of tools, prompts, resources and completions."""
    principals: tuple[str, ...] = ANY

    def covers(self, wanted: AccessRequest) -> bool:
        """Whether the limit counts this call."""
        counted = not self.tools or (wanted.kind is Kind.TOOL and matches_any(self.tools, wanted.target))
        return counted and matches_any(self.principals, wanted.principal)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitExceeded:
    """The limit that refuses a call, and how long the caller must wait."""

    limit: str
    seconds: float

    @property
    def retry_after_ms(self) -> int:
        """Whole milliseconds, rounded up: a caller that waits this long finds a token."""
        return math.ceil(self.seconds * 1000)


class RateLimiter:
    """Counts calls against every limit. A call that one limit refuses uses up no other."""

    def __init__(self, limits: Sequence[RateLimit], elapsed: Callable[[], float]) -> None:
        self._limits = tuple(limits)
        self._elapsed = elapsed
        self._buckets: OrderedDict[tuple[str, str], TokenBucket] = OrderedDict()

    def take(self, wanted: AccessRequest) -> LimitExceeded | None:
        """Count one call; or the limit that it exceeds, and of several the one that takes longest to be free again."""
        covering = [(limit, self._bucket(limit, wanted.principal)) for limit in self._limits if limit.covers(wanted)]
        exceeded = [
            LimitExceeded(limit=limit.name, seconds=bucket.seconds_until_free)
            for limit, bucket in covering
            if not bucket.has_token
        ]
        if exceeded:
            return max(exceeded, key=lambda each: each.seconds)
        for _, bucket in covering:
            bucket.tokens -= 1
        return None

    def _bucket(self, limit: RateLimit, principal: str) -> TokenBucket:
        """The bucket of a principal, refilled up to now."""
        now = self._elapsed()
        key = (limit.name, principal)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = TokenBucket(limit.burst, limit.calls / limit.seconds, now)
        self._buckets.move_to_end(key)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        bucket.refill(now)
        return bucket
