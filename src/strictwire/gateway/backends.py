"""The guard's backends (see exchange.Backend): one upstream, whose messages are relayed as they are, or several."""

from __future__ import annotations

import asyncio
import weakref
from functools import partial
from typing import Final

from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import ClientError
from strictwire.client.message import Era
from strictwire.fault.failure import Failure
from strictwire.gateway.links.background import retry_delays
from strictwire.gateway.links.errors import EraNotSpoken, RestartDelayed
from strictwire.gateway.links.health import UpstreamState
from strictwire.gateway.links.notifications import StreamListener
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.many.session import MergedSession
from strictwire.gateway.many.stateless import MergedStateless
from strictwire.gateway.many.topology import Topology
from strictwire.gateway.many.upstream_view import NamedUpstream
from strictwire.gateway.session import UpstreamSession
from strictwire.gateway.stateless import StatelessUpstream, serve_stateless
from strictwire.gateway.upstream_calls import UpstreamCalls
from strictwire.profiles.endpoint import Reply, Silent
from strictwire.profiles.mcp.exchange import Exchange, Session
from strictwire.profiles.mcp.own import MAX_SESSIONS

MAX_UPSTREAM_SESSIONS: Final = 200
"""Legacy sessions at once where each is a process."""


async def _open(session: UpstreamSession | MergedSession, exchange: Exchange) -> Session | Reply | Failure:
    """Open a session with its upstreams; or the error to answer `initialize` with."""
    # Silent: nothing may be sent before the answer, whose HTTP head carries the session id.
    try:
        answer = await session.open(StreamListener(Silent(), era=Era.LEGACY))
    except BaseException:
        await session.close()
        raise
    if isinstance(answer, UpstreamAnswer) and answer.error is None:
        exchange.revision = session.revision
        return session
    await session.close()
    if isinstance(answer, Failure):
        return answer
    status = answer.status if answer.status is not None and 400 <= answer.status < 500 else 200
    return Reply(body=answer.raw, status=status)


class SingleUpstream:
    """A Backend with one upstream under its own names."""

    def __init__(self, calls: UpstreamCalls) -> None:
        self.calls = calls
        self.journal = calls.journal
        total = MAX_UPSTREAM_SESSIONS if calls.upstream.target.url is None else MAX_SESSIONS
        self.session_limits = calls.options.session_limits(total)
        self._stateless = StatelessUpstream(calls)
        self.serve = partial(serve_stateless, relay=self._stateless.relay)
        self.end_input = self._stateless.end_subscriptions

    async def open_session(self, exchange: Exchange, session_id: str | None) -> Session | Reply | Failure:
        """See Backend."""
        return await _open(UpstreamSession(self.calls, exchange, session_id), exchange)

    async def close(self) -> None:
        """See Backend."""
        await self._stateless.close()
        await self.calls.close()


class MultiUpstream:
    """A Backend with several upstreams, or one under other names. It keeps each of them running, called or not."""

    def __init__(self, topology: Topology) -> None:
        upstreams = self._upstreams = topology.upstreams
        self.journal = upstreams[0].calls.journal
        total = max(1, MAX_UPSTREAM_SESSIONS // len(upstreams))
        self.session_limits = upstreams[0].calls.options.session_limits(total)
        self._stateless = MergedStateless(topology)
        self._new_session = partial(MergedSession, topology)
        self.serve = partial(serve_stateless, relay=self._stateless.relay)
        self.end_input = self._stateless.end_subscriptions
        self._sessions: weakref.WeakSet[MergedSession] = weakref.WeakSet()
        self._tasks = BackgroundTasks()
        for each in upstreams:
            each.health.on_change = partial(self._announce, each)
            self._tasks.start(_keep_running(each.calls.upstream))

    async def open_session(self, exchange: Exchange, session_id: str | None) -> Session | Reply | Failure:
        """See Backend."""
        session = self._new_session(exchange, session_id)
        self._sessions.add(session)
        return await _open(session, exchange)

    async def close(self) -> None:
        """See Backend."""
        await self._tasks.cancel()
        await self._stateless.close()
        await asyncio.gather(*(each.calls.close() for each in self._upstreams))

    def _announce(self, upstream: NamedUpstream) -> None:
        """An upstream that is back may offer something else than before."""
        if upstream.health.state is UpstreamState.UP:
            self._stateless.announce(upstream.name)
            for session in tuple(self._sessions):
                session.announce(upstream.name)


async def _keep_running(upstream: Upstream) -> None:
    """Open the shared link again whenever it ends. An upstream without the stateless era is left to its sessions."""
    delays = retry_delays()
    while True:
        try:
            await upstream.shared_link()
        except EraNotSpoken:
            return
        except RestartDelayed as exc:
            await asyncio.sleep(exc.seconds)
        except ClientError:
            await asyncio.sleep(next(delays))
        else:
            delays = retry_delays()
            await upstream.health.wait_for_news()
