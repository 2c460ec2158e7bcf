"""What stands behind the endpoint: one upstream, whose bytes are relayed as they are, or several behind a switch."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol

from strictwire.client.errors import ClientError
from strictwire.fault.failure import Failure
from strictwire.gateway.health import State
from strictwire.gateway.hearing import StreamHearer
from strictwire.gateway.link import Answer, Question
from strictwire.gateway.many_modern import ManyModern
from strictwire.gateway.many_session import Crowd, ManySession
from strictwire.gateway.modern import ModernGuard
from strictwire.gateway.session import GuardSession, Running
from strictwire.gateway.status import Status
from strictwire.gateway.switch import Switch
from strictwire.gateway.upstream import NotSpoken, TooSoon
from strictwire.gateway.warden import Warden
from strictwire.gateway.wing import ModernWing, health_of
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.record import Journal
from strictwire.profiles.exchange import Inbound, Outlet
from strictwire.profiles.mcp import MAX_SESSIONS
from strictwire.profiles.mcp_core import Identity, stamp
from strictwire.profiles.mcp_results import Written
from strictwire.profiles.streams import Streams
from strictwire.wire.envelope import Notification, Request, Response
from strictwire.wire.revisions import Revision
from strictwire.wire.session import InFlight

MAX_UPSTREAM_SESSIONS: Final = 200
"""Legacy sessions kept at once where each is a process; the one that was silent longest is ended first."""

DELAYS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before an upstream that could not be reached is tried again, by the number of times it could not."""


class Session(Protocol):
    """A legacy session as the endpoint sees it."""

    id: str | None
    principal: str
    revision: Revision
    in_flight: InFlight[Running]
    streams: Streams
    closed: asyncio.Event

    async def start(self, hearer: StreamHearer) -> Answer | Failure:
        """Open it; see GuardSession."""

    async def serve(self, request: Request, question: Question, inbound: Inbound, outlet: Outlet) -> Written | Failure:
        """Answer one request."""

    def hear_client(self, notification: Notification, raw: bytes) -> None:
        """Take a notification of the client."""

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """Take an answer of the client; False if nobody asked."""

    def attach(self, outlet: Outlet) -> None:
        """Where messages go that belong to no request."""

    def detach(self, outlet: Outlet) -> None:
        """That stream is gone."""

    async def close(self) -> None:
        """End it."""


class Stateless(Protocol):
    """The stateless era as the endpoint sees it."""

    async def serve(self, question: Question, inbound: Inbound, outlet: Outlet) -> Written | Failure:
        """Answer one request."""

    def end_subscriptions(self) -> None:
        """Nothing more will be told."""

    async def close(self) -> None:
        """Let go of everything."""


class House(Protocol):
    """Everything behind one endpoint."""

    journal: Journal
    clock: Clock
    max_sessions: int
    modern: Stateless

    def new_session(self, *, session_id: str | None, principal: str, opening: Question) -> Session:
        """A legacy session that is not open yet."""

    async def close(self) -> None:
        """Let go of every upstream."""


class OneHouse:
    """One upstream under its own names."""

    def __init__(self, warden: Warden) -> None:
        self.journal, self.clock = warden.journal, warden.clock
        self.max_sessions = MAX_UPSTREAM_SESSIONS if warden.upstream.target.url is None else MAX_SESSIONS
        self.modern: Stateless = ModernGuard(warden)
        self.warden = warden

    def new_session(self, *, session_id: str | None, principal: str, opening: Question) -> Session:
        """See House."""
        return GuardSession(self.warden, session_id=session_id, principal=principal, opening=opening)

    async def close(self) -> None:
        """See House."""
        await self.modern.close()
        await self.warden.close()


class ManyHouse:
    """Several upstreams, or one under other names. Keeps each of them running, whoever calls."""

    def __init__(self, wardens: Sequence[Warden], identity: Identity) -> None:
        self.journal, self.clock = wardens[0].journal, wardens[0].clock
        self.max_sessions = max(1, MAX_UPSTREAM_SESSIONS // len(wardens))
        self._crowd = Crowd(wardens=tuple(wardens), identity=identity, elapsed=self.clock.elapsed)
        wings = [ModernWing(warden) for warden in wardens]
        status, tail = Status([health_of(wing) for wing in wings]), stamp(identity)
        switch = Switch(wings, status=status, tail=tail, elapsed=self.clock.elapsed, modern=True)
        many = ManyModern(wings, switch, tail)
        self.modern: Stateless = many
        self._sessions: weakref.WeakSet[ManySession] = weakref.WeakSet()
        self._keepers = [asyncio.create_task(_keep(warden)) for warden in wardens]
        for wing in wings:
            health_of(wing).on_change = partial(self._announce, many, wing)

    def new_session(self, *, session_id: str | None, principal: str, opening: Question) -> Session:
        """See House."""
        session = ManySession(self._crowd, session_id=session_id, principal=principal, opening=opening)
        self._sessions.add(session)
        return session

    async def close(self) -> None:
        """See House."""
        for task in self._keepers:
            task.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await self.modern.close()
        await asyncio.gather(*(warden.close() for warden in self._crowd.wardens))

    def _announce(self, many: ManyModern, wing: ModernWing) -> None:
        """One that is back may offer something else than before."""
        if health_of(wing).state is State.UP:
            many.announce(wing)
            for session in tuple(self._sessions):
                session.announce(wing.warden)


async def _keep(warden: Warden) -> None:
    """Reach an upstream again when it ended, no faster than its carrier allows. One with sessions only is left to them."""
    failures = 0
    while True:
        try:
            await warden.upstream.modern()
        except NotSpoken:
            return
        except TooSoon as exc:
            await asyncio.sleep(exc.seconds)
        except ClientError:
            await asyncio.sleep(DELAYS[min(failures, len(DELAYS) - 1)])
            failures += 1
        else:
            failures = 0
            await warden.upstream.health.wait_news()
