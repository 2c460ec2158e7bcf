"""A legacy session of a client with several upstreams. Behind it, each upstream has a session of its own.

All of them agree with the client on one revision: the oldest that any upstream answers. The session opens if one upstream
does; the others join when they open.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import ClientError
from strictwire.fault.failure import Failure
from strictwire.gateway.guard_session import GuardSession
from strictwire.gateway.links.background import retry_delays
from strictwire.gateway.links.errors import timed_out
from strictwire.gateway.links.health import UpstreamState
from strictwire.gateway.links.link import UpstreamRequest
from strictwire.gateway.links.notifications import StreamListener
from strictwire.gateway.links.raw_message import UpstreamAnswer, replace_at
from strictwire.gateway.links.upstream import OPENING_SECONDS
from strictwire.gateway.many.merge import CHANGING, merged_offers
from strictwire.gateway.many.router import Router
from strictwire.gateway.many.topology import Topology
from strictwire.gateway.many.upstream_view import UpstreamView
from strictwire.gateway.session import UpstreamSession
from strictwire.gateway.upstream_calls import answer_exchange, client_request
from strictwire.profiles.endpoint import Outlet
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.wire.envelope import Notification, Response, render_notification, render_result
from strictwire.wire.revisions import LEGACY_NAMES


class MergedSession(GuardSession):
    """One session to the endpoint, with one UpstreamSession for each upstream."""

    def __init__(self, topology: Topology, exchange: Exchange, session_id: str | None) -> None:
        super().__init__(exchange, session_id)
        self._identity = topology.identity
        self._initialize: UpstreamRequest = client_request(exchange)
        self._sessions = {
            each.name: UpstreamSession(
                each.calls,
                exchange,
                session_id,
                in_flight=self.in_flight,
                prefix=f"strictwire-{number}",
                on_change=partial(self._forget, each.name),
            )
            for number, each in enumerate(topology.upstreams)
        }
        views = [UpstreamView(upstream=each, client=self._sessions[each.name]) for each in topology.upstreams]
        self._router = Router(views, topology, result_end=b"}")
        self._tasks = BackgroundTasks()

    async def open(self, listener: StreamListener) -> UpstreamAnswer | Failure:
        """Open a session with each upstream. The first failure, if none opens."""
        sessions = tuple(self._sessions.values())
        answers = await asyncio.gather(*(self._open(session, listener) for session in sessions))
        opened = [session for session, answer in zip(sessions, answers, strict=True) if _is_open(answer)]
        if not opened:
            return next((each for each in answers if isinstance(each, UpstreamAnswer)), answers[0])
        self.revision = min((session.revision for session in opened), key=lambda each: LEGACY_NAMES.index(each.name))
        await asyncio.gather(*(self._agree(session, listener) for session in opened))
        for name, session in self._sessions.items():
            session.agree_on(self._agreed_initialize(), self.revision)
            if session not in opened:
                self._tasks.start(self._join_later(name, session))
        result: JsonObject = {
            "protocolVersion": self.revision.name,
            "serverInfo": self._identity.as_json(),
            **merged_offers((name, session.opened) for name, session in self._sessions.items()),
        }
        self.opening = render_result(self._initialize.id, render(result))
        return UpstreamAnswer(raw=self.opening, result=result)

    async def serve(self, exchange: Exchange) -> None:
        """See Session."""
        relayed = await self._router.relay(client_request(exchange))
        if relayed is not None:
            answer_exchange(exchange, relayed)

    def take_notification(self, notification: Notification, raw: bytes) -> None:
        """See Session. Progress on a question concerns only upstreams that ask; other notifications concern all."""
        for session in self._sessions.values():
            if notification.method != "notifications/progress" or session.questions:
                session.take_notification(notification, raw)

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """See Session. One of the upstreams may have asked."""
        return any(session.take_answer(response, raw) for session in self._sessions.values())

    def attach(self, outlet: Outlet) -> None:
        """See Session."""
        super().attach(outlet)
        for session in self._sessions.values():
            session.attach(outlet)

    def detach(self, outlet: Outlet) -> None:
        """See Session."""
        super().detach(outlet)
        for session in self._sessions.values():
            session.detach(outlet)

    def end_input(self) -> None:
        """See Session."""
        for session in self._sessions.values():
            session.end_input()

    async def close(self) -> None:
        """See Session."""
        await super().close()
        await self._tasks.cancel()
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    def announce(self, name: str) -> None:
        """Notify the client that the lists of an upstream may have changed: the upstream is back."""
        self._router.directory.forget(name)
        session = self._sessions[name]
        if self._outlet is not None and session.calls.upstream.health.state is UpstreamState.UP:
            for kind in CHANGING:
                if kind in session.offered:
                    self._outlet.send(render_notification(f"notifications/{kind}/list_changed", {}))

    async def _open(self, session: UpstreamSession, listener: StreamListener) -> UpstreamAnswer | Failure:
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                answer = await session.open(listener)
        except TimeoutError:
            answer = timed_out(OPENING_SECONDS)
        if not _is_open(answer):
            health = session.calls.upstream.health
            if health.state is not UpstreamState.DOWN:  # a process that ended has given its own reason
                health.note_down("it does not open a session")
            await session.drop_link()
        return answer

    async def _agree(self, session: UpstreamSession, listener: StreamListener) -> None:
        """Open a session again if it answered a newer revision than the one that all share."""
        if session.revision is not self.revision:
            await session.drop_link()
            session.agree_on(self._agreed_initialize(), self.revision)
            await self._open(session, listener)

    def _agreed_initialize(self) -> UpstreamRequest:
        """The client's `initialize`, with the revision that all share."""
        initialize, name = self._initialize, self.revision.name
        if initialize.params.get("protocolVersion") == name:
            return initialize
        raw = replace_at(initialize.raw, ("params", "protocolVersion"), render(name))
        return msgspec.structs.replace(initialize, params={**initialize.params, "protocolVersion": name}, raw=raw)

    async def _join_later(self, name: str, session: UpstreamSession) -> None:
        """Open an upstream that did not open with the others, and notify the client."""
        for seconds in retry_delays():
            await asyncio.sleep(seconds)
            with contextlib.suppress(ClientError):
                await session.live_link()
                self.announce(name)
                return

    def _forget(self, name: str) -> None:
        self._router.directory.forget(name)


def _is_open(answer: UpstreamAnswer | Failure) -> bool:
    return isinstance(answer, UpstreamAnswer) and answer.result is not None
