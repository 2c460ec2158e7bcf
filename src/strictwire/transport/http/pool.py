"""The connections of one listener: their deadlines, and who pays when there is no room for another.

Two things are shared by all clients: the number of connections, and the memory for requests and responses that wait. When
one is used up, clients that have not proven who they are pay first, then the principal that holds most. A connection with
an authorised request in flight is never closed to make room for another connection.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from strictwire.fault.failure import Failure, fail
from strictwire.transport.http.handoff import FindOwner
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.responder import Dispatcher
from strictwire.transport.http.rules import Site


class PooledConnection(Protocol):
    """What the pool knows about a connection."""

    principal: str | None
    """Who has sent an authorised head; None before the first."""

    @property
    def idle_until(self) -> float:
        """When it is closed if it stays idle. The earliest has been idle for longest."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read, answered or sent."""

    @property
    def behind_until(self) -> float:
        """When a client that does not read is disconnected; infinite for one that reads."""

    @property
    def held_bytes(self) -> int:
        """Bytes of its requests and responses that are in memory."""

    def check_deadlines(self, now: float) -> None:
        """End what is overdue."""

    def evict(self) -> None:
        """Disconnect the client now."""

    def close(self) -> None:
        """Disconnect the client when it has read what was sent."""


class ConnectionPool:
    """The connections of one listener. One timer looks at the deadlines of all of them."""

    def __init__(self, site: Site, limits: HttpLimits, find_owner: FindOwner | None = None) -> None:
        self.site = site
        self.limits = limits
        self.find_owner = find_owner
        self.dispatcher = Dispatcher(site, limits.keep_alive_seconds)
        self.connections: set[PooledConnection] = set()
        self._unproven: dict[PooledConnection, None] = {}
        """Connections without an authorised head so far, the oldest first."""
        self._held = 0
        """Bytes held by all connections: exact after each sweep, and never too small."""
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: PooledConnection) -> bool:
        """Keep a connection, and from now on its deadlines. False if all others are busy with authorised requests."""
        if len(self.connections) >= self.limits.max_connections + self.limits.max_unproven and not self._make_room():
            return False
        self.connections.add(connection)
        self._unproven[connection] = None
        if self._timer is None:
            self._schedule_sweep()
        return True

    def discard(self, connection: PooledConnection) -> None:
        """Forget a connection that has ended."""
        self.connections.discard(connection)
        self._unproven.pop(connection, None)

    def authorise(self, connection: PooledConnection, principal: str) -> Failure | None:
        """Note who has sent an authorised head. OVERLOADED if every connection is busy, half of them for this principal."""
        if connection.principal is not None or connection not in self.connections:
            return None
        is_full = len(self.connections) - len(self._unproven) >= self.limits.max_connections
        if is_full and not self._evict_idle() and 2 * self._count(principal) >= self.limits.max_connections:
            return fail("OVERLOADED")
        connection.principal = principal
        self._unproven.pop(connection, None)
        return None

    def hold(self, connection: PooledConnection, size: int) -> bool:
        """Count bytes that a connection has begun to hold. False if there is no room for them, and this connection pays."""
        self._held += size
        while self._held > self.limits.max_held:
            self._held = sum(each.held_bytes for each in self.connections)
            if self._held <= self.limits.max_held:
                return True
            payer = self._find_payer(connection)
            if payer is connection:
                return False
            self._evict(payer)
        return True

    def _find_payer(self, growing: PooledConnection) -> PooledConnection:
        """The connection that holds most, of the principal that holds most.

        If that is the principal whose connection grows: the one that has not read for longest, else the one that grows.
        """
        held: Counter[str | None] = Counter()
        for each in self.connections:
            held[each.principal] += each.held_bytes
        principal = held.most_common(1)[0][0]
        if principal != growing.principal:
            return max(_of(principal, self.connections), key=lambda each: each.held_bytes)
        oldest = min(_of(principal, self.connections), key=lambda each: each.behind_until)
        return growing if oldest.behind_until == math.inf else oldest

    def _make_room(self) -> bool:
        """Close the connection that has been unproven for longest, or an idle one."""
        oldest = next(iter(self._unproven), None)
        if oldest is None:
            return self._evict_idle()
        self._evict(oldest)
        return True

    def _evict_idle(self) -> bool:
        """Close the connection that has been idle for longest, of the principal that has most of those."""
        idle = [each for each in self.connections if each.principal is not None and each.is_idle]
        if not idle:
            return False
        principal = Counter(each.principal for each in idle).most_common(1)[0][0]
        self._evict(min(_of(principal, idle), key=lambda each: each.idle_until))
        return True

    def _count(self, principal: str) -> int:
        return sum(1 for _ in _of(principal, self.connections))

    def _evict(self, connection: PooledConnection) -> None:
        self.discard(connection)  # first: the event loop reports the end of a connection in its next turn
        connection.evict()

    def _schedule_sweep(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self.limits.sweep_seconds, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        if self.connections:
            self._schedule_sweep()
        now = asyncio.get_running_loop().time()
        for connection in tuple(self.connections):
            connection.check_deadlines(now)
        self._held = sum(each.held_bytes for each in self.connections)


def _of(principal: str | None, connections: Iterable[PooledConnection]) -> Iterable[PooledConnection]:
    return (each for each in connections if each.principal == principal)
