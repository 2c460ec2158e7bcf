"""The guard's backends: one upstream, whose bytes are relayed as they are, or several behind a router."""

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
from strictwire.gateway.link import Answer, Era, question_of
from strictwire.gateway.many_modern import ManyModern
from strictwire.gateway.many_session import Crowd, ManySession
from strictwire.gateway.modern import ModernGuard
from strictwire.gateway.session import GuardSession
from strictwire.gateway.status import Status
from strictwire.gateway.switch import Switch
from strictwire.gateway.upstream import NotSpoken, TooSoon
from strictwire.gateway.warden import Warden
from strictwire.gateway.wing import ModernWing, health_of
from strictwire.profiles.endpoint import Reply, Silent
from strictwire.profiles.mcp.exchange import Exchange, Session
from strictwire.profiles.mcp.identity import Identity, stamp
from strictwire.profiles.mcp.own import MAX_SESSIONS

MAX_UPSTREAM_SESSIONS: Final = 200
"""Legacy sessions kept at once where each is a process; the one that was silent longest is ended first."""

DELAYS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before an upstream that could not be reached is tried again, by the number of times it could not."""


class RelaySession(Session, Protocol):
    """A session that its upstreams have to open."""

    async def start(self, hearer: StreamHearer) -> Answer | Failure:
        """Open it; see GuardSession."""


class Stateless(Protocol):
    """The stateless era of one or several upstreams."""

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request."""

    def end_subscriptions(self) -> None:
        """Nothing more will be notified."""

    async def close(self) -> None:
        """Free everything."""


async def open_session(session: RelaySession, exchange: Exchange) -> Session | Reply | Failure:
    """Open a session with its upstreams for an `initialize`; or the error to answer it with."""
    # Nothing may be sent before the answer: its head carries the id of the session.
    try:
        answer = await session.start(StreamHearer(Silent(), era=Era.LEGACY))
    except BaseException:
        await session.close()
        raise
    if isinstance(answer, Answer) and answer.error is None:
        exchange.revision = session.revision
        return session
    await session.close()
    if isinstance(answer, Failure):
        return answer
    status = answer.status if answer.status is not None and 400 <= answer.status < 500 else 200
    return Reply(body=answer.raw, status=status)


class SingleUpstream:
    """A Backend: one upstream under its own names."""

    def __init__(self, warden: Warden) -> None:
        self.journal = warden.journal
        self.max_sessions = MAX_UPSTREAM_SESSIONS if warden.upstream.target.url is None else MAX_SESSIONS
        self.warden = warden
        self._modern = ModernGuard(warden)
        self.serve = self._modern.serve
        self.end_input = self._modern.end_subscriptions

    async def open_session(self, exchange: Exchange, session_id: str | None) -> Session | Reply | Failure:
        """See Backend."""
        principal = exchange.inbound.caller.principal
        session = GuardSession(self.warden, session_id=session_id, principal=principal, opening=question_of(exchange))
        return await open_session(session, exchange)

    async def close(self) -> None:
        """See Backend."""
        await self._modern.close()
        await self.warden.close()


class MultiUpstream:
    """A Backend: several upstreams, or one under other names. Keeps each of them running, whether or not it is called."""

    def __init__(self, wardens: Sequence[Warden], identity: Identity) -> None:
        self.journal = wardens[0].journal
        elapsed = wardens[0].clock.elapsed
        self.max_sessions = max(1, MAX_UPSTREAM_SESSIONS // len(wardens))
        self._crowd = Crowd(wardens=tuple(wardens), identity=identity, elapsed=elapsed)
        wings = [ModernWing(warden) for warden in wardens]
        status, tail = Status([health_of(wing) for wing in wings]), stamp(identity)
        switch = Switch(wings, status=status, tail=tail, elapsed=elapsed, modern=True)
        self._modern = ManyModern(wings, switch, tail)
        self.serve = self._modern.serve
        self.end_input = self._modern.end_subscriptions
        self._sessions: weakref.WeakSet[ManySession] = weakref.WeakSet()
        self._keepers = [asyncio.create_task(_keep(warden)) for warden in wardens]
        for wing in wings:
            health_of(wing).on_change = partial(self._announce, wing)

    async def open_session(self, exchange: Exchange, session_id: str | None) -> Session | Reply | Failure:
        """See Backend."""
        principal = exchange.inbound.caller.principal
        session = ManySession(self._crowd, session_id=session_id, principal=principal, opening=question_of(exchange))
        self._sessions.add(session)
        return await open_session(session, exchange)

    async def close(self) -> None:
        """See Backend."""
        for task in self._keepers:
            task.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await self._modern.close()
        await asyncio.gather(*(warden.close() for warden in self._crowd.wardens))

    def _announce(self, wing: ModernWing) -> None:
        """An upstream that is back may offer something else than before."""
        if health_of(wing).state is State.UP:
            self._modern.announce(wing)
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
