"""The `mcp` profile: both eras on one endpoint. Reads one message, finds its era, and answers it exactly once."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue, Limits
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.profiles.era import SESSION_HEADER, Era, era_of
from strictwire.profiles.exchange import Deliver, Headers, Inbound, Outlet, Reply, Rest
from strictwire.profiles.front import (
    ACCEPTED,
    cancels_on_disconnect,
    find_stream_fault,
    find_verb_fault,
    hold_stream,
    reply_of,
    revision_of,
    said,
    sessionless,
)
from strictwire.profiles.mcp_core import Core, malformed
from strictwire.profiles.mcp_lane import Lane, NotPlain
from strictwire.profiles.mcp_legacy import LegacySession
from strictwire.profiles.mcp_modern import Modern
from strictwire.profiles.mcp_results import Written, write_failure
from strictwire.profiles.streams import end_stream
from strictwire.wire.envelope import (
    Message,
    Notification,
    Request,
    Response,
    Unreadable,
    classify,
    decode,
    read_message,
    render_result,
)
from strictwire.wire.revisions import (
    Revision,
    negotiate_legacy,
)
from strictwire.wire.session import MAX_IN_FLIGHT, Cancellable, InFlight

MAX_UNREADABLE: Final = 256
"""Answers to bytes that are not JSON that are kept at once."""

MAX_SESSIONS: Final = 10_000
"""Legacy sessions kept at once over HTTP; the one that was silent longest is ended first."""

MAX_BATCH: Final = 100
"""Messages in one batch of a 2025-03-26 session."""


class McpEndpoint:
    """Speaks MCP over one transport.

    Without headers (stdio) the connection is the conversation: one legacy session at most, one table of requests in
    flight. With headers (HTTP) every request stands alone or names its session.
    """

    answers_in = ("application/json", "text/event-stream")

    def __init__(self, core: Core, *, limits: Limits | None = None, session_prefix: str = "") -> None:
        """`session_prefix` begins every session's id: it says which of several processes has the session."""
        self._core = core
        self._prefix = session_prefix
        self._limits = limits or Limits()
        self._modern = Modern(core)
        self._in_flight: InFlight[Cancellable] = InFlight()
        self._lane = Lane(core, self._modern, self._in_flight, self._limits)
        self._unreadable: dict[tuple[Any, Any, str], Reply] = {}
        """Answers to bytes that are not JSON: the same fault has the same answer."""
        self._own: LegacySession | None = None
        self._sessions: OrderedDict[str, LegacySession] = OrderedDict()

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:
        """In the stateless era the end of the stream is the cancellation; in the legacy era only that of a GET is."""
        return cancels_on_disconnect(inbound)

    async def serve(self, inbound: Inbound, outlet: Outlet) -> Reply:
        """Answer one message."""
        if inbound.verb != "POST":
            return await self._serve_verb(inbound, outlet)
        return await self._serve_value(decode(inbound.body, self._limits), self._find_session(inbound), inbound, outlet)

    def answer(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> Rest:
        """The same, by the short way where there is one; the answer leaves when its record is kept."""
        if inbound.verb != "POST":
            return _deliver(self._serve_verb(inbound, outlet), deliver)
        session = self._own if inbound.headers is None else self._find_session(inbound)
        rest = self._lane.answer(session, inbound, outlet, deliver)
        if not isinstance(rest, NotPlain):
            return rest
        value = decode(inbound.body, self._limits)
        if isinstance(value, Unreadable):
            deliver(self._refuse_unreadable(value, inbound, session))
            return None
        return _deliver(self._serve_value(value, session, inbound, outlet), deliver)

    async def _serve_value(
        self, value: JsonValue | Unreadable, session: LegacySession | None, inbound: Inbound, outlet: Outlet
    ) -> Reply:
        if isinstance(value, Unreadable):
            return self._refuse_unreadable(value, inbound, session)
        if isinstance(value, list) and session is not None and session.revision.batches:
            return await self._serve_batch(value, session, inbound, outlet)
        return await self._serve_message(classify(value), session, inbound, outlet)

    def end_input(self) -> None:
        """No more will come in: subscriptions end, and questions to the client have no answer any more."""
        self._core.pipeline.catalog.announce("closing")
        if self._own is not None:
            self._own.abandon_questions()

    async def close(self) -> None:
        """End subscriptions and sessions."""
        self._lane.close()
        self._core.pipeline.catalog.announce("closing")
        for session in (*self._sessions.values(), *([self._own] if self._own else [])):
            session.close()
        self._sessions.clear()

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        """The answer to a message that the transport would not keep."""
        return self._refuse_unreadable(Unreadable(fail("REQUEST_TOO_LARGE")), inbound, None)

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours."""
        message = read_message(inbound.body, self._limits)
        request_id = None if isinstance(message, Notification | Response) else message.id
        facts = Facts(timestamp=self._core.clock.timestamp(), revision=self._revision_of(inbound, None).name)
        return reply_of(write_failure(request_id, fail("INTERNAL"), facts))

    async def _serve_message(
        self, message: Message, session: LegacySession | None, inbound: Inbound, outlet: Outlet
    ) -> Reply:
        if isinstance(message, Unreadable):
            return self._refuse_unreadable(message, inbound, session)
        if isinstance(message, Response):
            return self._take_answer(message, session, inbound)
        era = era_of(message.method, message.params, inbound.headers, has_session=session is not None)
        if isinstance(message, Notification):
            return self._hear(message, era, session, inbound)
        if isinstance(era, Failure):
            return await self._refuse(message, era, inbound)
        if era is Era.OPENING:
            fault = find_opening_fault(message.params or {})
            return self._open(message, inbound, outlet) if fault is None else await self._refuse(message, fault, inbound)
        if era is Era.UNBOUND or (session is None and era is Era.LEGACY):
            return await self._serve_unbound(message, inbound)
        if session is not None and era is Era.LEGACY:
            return await self._serve_legacy(message, session, inbound, outlet)
        return await self._serve_modern(message, inbound, outlet)

    async def _serve_modern(self, request: Request, inbound: Inbound, outlet: Outlet) -> Reply:
        if inbound.headers is not None:
            return reply_of(await self._modern.serve(request, inbound, outlet))
        serve = self._modern.serve(request, inbound, outlet)
        return await self._serve_once(request, self._in_flight, serve, inbound)

    async def _serve_legacy(self, request: Request, session: LegacySession, inbound: Inbound, outlet: Outlet) -> Reply:
        if inbound.headers is None or not session.revision.resumable:
            serve = session.serve(request, inbound, outlet)
            return await self._serve_once(request, session.in_flight, serve, inbound)
        stream = session.streams.start(outlet)
        serve = session.serve(request, inbound, stream)
        reply = await self._serve_once(request, session.in_flight, serve, inbound)
        return end_stream(session.streams, stream, reply)

    async def _serve_once(
        self,
        request: Request,
        in_flight: InFlight[Cancellable],
        serve: Coroutine[object, object, Written],
        inbound: Inbound,
    ) -> Reply:
        """Serve a request whose id must not be in use, and take it out of the table when it is answered."""
        task = asyncio.current_task()
        full = len(in_flight) >= MAX_IN_FLIGHT
        if task is None or full or not in_flight.add(request.id, task):
            serve.close()
            return await self._refuse(request, fail("OVERLOADED" if full else "DUPLICATE_ID"), inbound)
        try:
            return reply_of(await serve)
        finally:
            in_flight.release(request.id, task)

    async def _serve_batch(
        self, messages: list[JsonValue], session: LegacySession, inbound: Inbound, outlet: Outlet
    ) -> Reply:
        """2025-03-26 demands that batches are received. Their requests run side by side; answers keep the order."""
        if not 0 < len(messages) <= MAX_BATCH:
            return self._refuse_unreadable(Unreadable(fail("NOT_A_REQUEST", details={"reason": "batch"})), inbound, session)
        served = await asyncio.gather(
            *(self._serve_member(classify(each), session, inbound, outlet) for each in messages), return_exceptions=True
        )
        bodies = [body for reply in served if (body := said(reply)) is not None]
        return Reply(body=b"[" + b",".join(bodies) + b"]") if bodies else ACCEPTED

    async def _serve_member(self, message: Message, session: LegacySession, inbound: Inbound, outlet: Outlet) -> Reply:
        """One message of a batch; `initialize` must not be among them."""
        if isinstance(message, Request) and message.method == "initialize":
            return await self._refuse(message, fail("NOT_A_REQUEST", details={"reason": "initialize_in_batch"}), inbound)
        return await self._serve_message(message, session, inbound, outlet)

    async def _serve_unbound(self, request: Request, inbound: Inbound) -> Reply:
        """Before a session only `ping` is answered; everything else is told how to begin."""
        missing = sessionless(inbound.headers)
        if request.method == "ping" and missing.code == "SESSION_REQUIRED":
            return Reply(body=render_result(request.id, b"{}"))
        return await self._refuse(request, missing, inbound)

    async def _serve_verb(self, inbound: Inbound, outlet: Outlet) -> Reply:
        """GET and DELETE exist in the legacy era alone."""
        headers = inbound.headers or Headers(())
        refused = find_verb_fault(inbound)
        if refused is not None:
            return self._refuse_unreadable(Unreadable(refused), inbound, None)
        session = self._find_session(inbound)
        if session is None:
            return self._refuse_unreadable(Unreadable(sessionless(headers)), inbound, None)
        if inbound.verb == "DELETE":
            self._sessions.pop(str(session.id), None)
            session.close()
            return Reply(status=204)
        refused = find_stream_fault(headers)
        if refused is not None:
            return self._refuse_unreadable(Unreadable(refused), inbound, None)
        return await hold_stream(session, headers, outlet)

    def _open(self, request: Request, inbound: Inbound, outlet: Outlet) -> Reply:
        """Begin a legacy session. On stdio a second `initialize` begins it anew."""
        params = request.params or {}
        revision = negotiate_legacy(params.get("protocolVersion"))
        over_http = inbound.headers is not None
        session_id = self._prefix + secrets.token_urlsafe(24) if over_http else None
        session = LegacySession(
            self._core, session_id=session_id, revision=revision, client=params, principal=inbound.caller.principal
        )
        body = render_result(request.id, session.opening())
        if session_id is None:
            if self._own is not None:
                self._own.retire()
            self._own = session
            session.attach(outlet)
            return Reply(body=body)
        self._remember(session_id, session)
        return Reply(body=body, headers=(("Mcp-Session-Id", session_id),))

    def _remember(self, session_id: str, session: LegacySession) -> None:
        self._sessions[session_id] = session
        while len(self._sessions) > MAX_SESSIONS:
            _, oldest = self._sessions.popitem(last=False)
            oldest.close()

    def _find_session(self, inbound: Inbound) -> LegacySession | None:
        headers = inbound.headers
        if headers is None:
            return self._own
        if headers.agreed is not None:  # they are of the stateless era
            return None
        session = self._sessions.get(headers.get(SESSION_HEADER) or "")
        if session is None or session.id is None or session.principal != inbound.caller.principal:
            return None
        self._sessions.move_to_end(session.id)
        return session

    def _hear(self, message: Notification, era: Era | Failure, session: LegacySession | None, inbound: Inbound) -> Reply:
        """Take a notification. Over HTTP one that belongs nowhere is told so: its sender has lost its session."""
        if inbound.headers is not None and session is None and era is not Era.MODERN:
            failure = era if isinstance(era, Failure) else sessionless(inbound.headers)
            return self._refuse_unreadable(Unreadable(failure), inbound, None)
        if session is not None and era is not Era.MODERN:
            session.hear(message)
        if inbound.headers is None and message.method == "notifications/cancelled":
            self._cancel((message.params or {}).get("requestId"))
        return ACCEPTED

    def _cancel(self, request_id: object) -> None:
        if isinstance(request_id, str | int) and not isinstance(request_id, bool):
            task = self._in_flight.pop(request_id, None)
            if task is not None:
                task.cancel()

    def _take_answer(self, message: Response, session: LegacySession | None, inbound: Inbound) -> Reply:
        """Answers belong to legacy sessions. What we say to a stray one does not carry its id: that id is ours."""
        if session is not None:
            if not session.take_answer(message):
                self._core.pipeline.journal.count_malformed("stray_answer")
            return ACCEPTED
        failure = fail("NOT_A_REQUEST", details={"reason": "answer"})
        return self._refuse_unreadable(Unreadable(failure), inbound, None)

    async def _refuse(self, request: Request, failure: Failure, inbound: Inbound) -> Reply:
        return reply_of(await self._core.refuse(request, failure, inbound, self._revision_of(inbound, None)))

    def _refuse_unreadable(self, message: Unreadable, inbound: Inbound, session: LegacySession | None) -> Reply:
        """Bytes that are no message: counted, and told why. Over HTTP this is a bad request in either era."""
        failure, revision = message.failure, self._revision_of(inbound, session).name
        self._core.pipeline.journal.count_malformed(str(failure.details.get("reason", failure.code)))
        if failure.code != "NOT_JSON" or message.id is not None:
            return self._word_unreadable(message, revision)
        key = (failure.details.get("reason"), failure.details.get("byte"), revision)
        known = self._unreadable.get(key)
        if known is None:
            known = self._word_unreadable(message, revision)
            if len(self._unreadable) >= MAX_UNREADABLE:
                self._unreadable.clear()
            self._unreadable[key] = known
        return known

    def _word_unreadable(self, message: Unreadable, revision: str) -> Reply:
        facts = Facts(timestamp=self._core.clock.timestamp(), revision=revision)
        written = write_failure(message.id, message.failure, facts)
        headers = tuple(http_dialect.headers_of(message.failure).items())
        return Reply(body=written.body, status=written.status, headers=headers)

    def _revision_of(self, inbound: Inbound, session: LegacySession | None) -> Revision:
        return revision_of(inbound) if session is None else session.revision


def find_opening_fault(params: JsonObject) -> Failure | None:
    """MALFORMED_PARAMS for an `initialize` that leaves out, or bends, what every revision requires of it."""
    kinds: Mapping[str, type] = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
    return next((malformed(name) for name, kind in kinds.items() if not isinstance(params.get(name), kind)), None)


async def _deliver(serving: Coroutine[Any, Any, Reply], deliver: Deliver) -> None:
    deliver(await serving)
