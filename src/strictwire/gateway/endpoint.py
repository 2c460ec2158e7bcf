"""The guard as an endpoint: reads one message of a client, finds its era, and has it relayed. Each is answered once.

Malformed messages, foreign sessions and repeated ids are refused here, exactly as our own `mcp` profile refuses them;
the upstream sees only well-formed requests.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Coroutine

from strictwire.canon.json import JsonObject, JsonValue, Limits, render
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.gateway.hearing import StreamHearer
from strictwire.gateway.house import House, Session
from strictwire.gateway.link import Era as LinkEra
from strictwire.gateway.link import Question
from strictwire.gateway.session import Running
from strictwire.profiles.era import SESSION_HEADER, Era, era_of
from strictwire.profiles.exchange import Headers, Inbound, Outlet, Reply, Silent
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
from strictwire.profiles.mcp import MAX_BATCH, find_opening_fault
from strictwire.profiles.mcp_core import PROFILE
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
from strictwire.wire.revisions import Revision
from strictwire.wire.session import MAX_IN_FLIGHT, InFlight


class GuardEndpoint:
    """Speaks MCP to clients on behalf of what is behind it."""

    answers_in = ("application/json", "text/event-stream")

    def __init__(self, house: House, *, limits: Limits | None = None) -> None:
        self.house = house
        self._limits = limits or Limits()
        self._modern = house.modern
        self._in_flight: InFlight[Running] = InFlight()
        self._own: Session | None = None
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:
        """In the stateless era the end of the stream is the cancellation; in the legacy era only that of a GET is."""
        return cancels_on_disconnect(inbound)

    async def serve(self, inbound: Inbound, outlet: Outlet) -> Reply:
        """Answer one message."""
        if inbound.verb != "POST":
            return await self._serve_verb(inbound, outlet)
        value = decode(inbound.body, self._limits)
        session = self._find_session(inbound)
        if isinstance(value, Unreadable):
            return self._refuse_unreadable(value, inbound, session)
        if isinstance(value, list) and session is not None and session.revision.batches:
            return await self._serve_batch(value, session, inbound, outlet)
        return await self._serve_message(classify(value), inbound.body, session, inbound, outlet)

    def end_input(self) -> None:
        """No more will come in: subscriptions end."""
        self._modern.end_subscriptions()

    async def close(self) -> None:
        """End sessions, and the upstream."""
        sessions = (*self._sessions.values(), *([self._own] if self._own else []))
        self._sessions.clear()
        self._own = None
        await asyncio.gather(*(session.close() for session in sessions), *self._ending, return_exceptions=True)
        await self.house.close()

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        """The answer to a message that the transport would not keep."""
        return self._refuse_unreadable(Unreadable(fail("REQUEST_TOO_LARGE")), inbound, None)

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours."""
        message = read_message(inbound.body, self._limits)
        request_id = None if isinstance(message, Notification | Response) else message.id
        return reply_of(write_failure(request_id, fail("INTERNAL"), self._facts(self._revision_of(inbound, None))))

    async def _serve_message(
        self, message: Message, raw: bytes, session: Session | None, inbound: Inbound, outlet: Outlet
    ) -> Reply:
        if isinstance(message, Unreadable):
            return self._refuse_unreadable(message, inbound, session)
        if isinstance(message, Response):
            return self._take_answer(message, raw, session, inbound)
        era = era_of(message.method, message.params, inbound.headers, has_session=session is not None)
        if isinstance(message, Notification):
            return self._hear(message, raw, era, session, inbound)
        if isinstance(era, Failure):
            return await self._refuse(message, era, inbound, None)
        question = Question(id=message.id, method=message.method, params=message.params or {}, raw=raw)
        if era is Era.OPENING:
            return await self._open(message, question, inbound, outlet)
        if era is Era.MODERN:
            return await self._serve_modern(message, question, inbound, outlet)
        if session is None:
            return await self._serve_unbound(message, inbound)
        return await self._serve_legacy(message, question, session, inbound, outlet)

    async def _serve_modern(self, request: Request, question: Question, inbound: Inbound, outlet: Outlet) -> Reply:
        # Over HTTP each request stands alone, so an id may be in use as often as clients like.
        in_flight = self._in_flight if inbound.headers is None else InFlight[Running]()
        serve = self._modern.serve(question, inbound, outlet)
        return await self._serve_once(request, question, in_flight, serve, inbound, outlet, None)

    async def _serve_legacy(
        self, request: Request, question: Question, session: Session, inbound: Inbound, outlet: Outlet
    ) -> Reply:
        if inbound.headers is None or not session.revision.resumable:
            serve = session.serve(request, question, inbound, outlet)
            return await self._serve_once(request, question, session.in_flight, serve, inbound, outlet, session)
        stream = session.streams.start(outlet)
        serve = session.serve(request, question, inbound, stream)
        reply = await self._serve_once(request, question, session.in_flight, serve, inbound, stream, session)
        return end_stream(session.streams, stream, reply)

    async def _serve_once(
        self,
        request: Request,
        question: Question,
        in_flight: InFlight[Running],
        serve: Coroutine[object, object, Written | Failure],
        inbound: Inbound,
        outlet: Outlet,
        session: Session | None,
    ) -> Reply:
        """Serve a request whose id must not be in use, and take it out of the table when it is answered."""
        task = asyncio.current_task()
        full = len(in_flight) >= MAX_IN_FLIGHT
        if task is None or full or not in_flight.add(request.id, Running(task=task, question=question, outlet=outlet)):
            serve.close()
            return await self._refuse(request, fail("OVERLOADED" if full else "DUPLICATE_ID"), inbound, session)
        try:
            written = await serve
        finally:
            in_flight.pop(request.id, None)
        if isinstance(written, Failure):
            return await self._refuse(request, written, inbound, session)
        return reply_of(written)

    async def _serve_batch(self, messages: list[JsonValue], session: Session, inbound: Inbound, outlet: Outlet) -> Reply:
        """2025-03-26 demands that batches are received. They are relayed one by one; answers keep the order."""
        if not 0 < len(messages) <= MAX_BATCH:
            return self._refuse_unreadable(Unreadable(fail("NOT_A_REQUEST", details={"reason": "batch"})), inbound, session)
        served = await asyncio.gather(
            *(self._serve_member(each, session, inbound, outlet) for each in messages), return_exceptions=True
        )
        bodies = [body for reply in served if (body := said(reply)) is not None]
        return Reply(body=b"[" + b",".join(bodies) + b"]") if bodies else ACCEPTED

    async def _serve_member(self, value: JsonValue, session: Session, inbound: Inbound, outlet: Outlet) -> Reply:
        """One message of a batch; `initialize` must not be among them."""
        message = classify(value)
        if isinstance(message, Request) and message.method == "initialize":
            refusal = fail("NOT_A_REQUEST", details={"reason": "initialize_in_batch"})
            return await self._refuse(message, refusal, inbound, session)
        return await self._serve_message(message, render(value), session, inbound, outlet)

    async def _serve_unbound(self, request: Request, inbound: Inbound) -> Reply:
        """Before a session only `ping` is answered; everything else is told how to begin."""
        if request.method == "ping":
            return Reply(body=render_result(request.id, b"{}"))
        return await self._refuse(request, sessionless(inbound.headers), inbound, None)

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
            self._end(session)
            return Reply(status=204)
        refused = find_stream_fault(headers)
        if refused is not None:
            return self._refuse_unreadable(Unreadable(refused), inbound, None)
        return await hold_stream(session, headers, outlet)

    async def _open(self, request: Request, question: Question, inbound: Inbound, outlet: Outlet) -> Reply:
        """Begin a legacy session with one of its own upstream. On stdio a second `initialize` begins it anew."""
        fault = find_opening_fault(question.params)
        if fault is not None:
            return await self._refuse(request, fault, inbound, None)
        session_id = secrets.token_urlsafe(24) if inbound.headers is not None else None
        principal = inbound.caller.principal
        session = self.house.new_session(session_id=session_id, principal=principal, opening=question)
        # Nothing may be said before the answer: its head carries the id of the session.
        try:
            answer = await session.start(StreamHearer(Silent(), era=LinkEra.LEGACY))
        except asyncio.CancelledError:
            self._end(session)
            raise
        if isinstance(answer, Failure):
            self._end(session)
            return await self._refuse(request, answer, inbound, session)
        if answer.error is not None:
            self._end(session)
            status = answer.status if answer.status is not None and 400 <= answer.status < 500 else 200
            return Reply(body=answer.raw, status=status)
        self._keep(session, outlet)
        headers = () if session_id is None else (("Mcp-Session-Id", session_id),)
        return Reply(body=answer.raw, headers=headers)

    def _keep(self, session: Session, outlet: Outlet) -> None:
        if session.id is None:
            if self._own is not None:
                self._end(self._own)
            self._own = session
            session.attach(outlet)
            return
        self._sessions[session.id] = session
        while len(self._sessions) > self.house.max_sessions:
            _, oldest = self._sessions.popitem(last=False)
            self._end(oldest)

    def _end(self, session: Session) -> None:
        task = asyncio.create_task(session.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _find_session(self, inbound: Inbound) -> Session | None:
        if inbound.headers is None:
            return self._own
        session = self._sessions.get(inbound.headers.get(SESSION_HEADER) or "")
        if session is None or session.id is None or session.principal != inbound.caller.principal:
            return None
        self._sessions.move_to_end(session.id)
        return session

    def _hear(
        self, message: Notification, raw: bytes, era: Era | Failure, session: Session | None, inbound: Inbound
    ) -> Reply:
        """Take a notification. Over HTTP one that belongs nowhere is told so: its sender has lost its session."""
        if inbound.headers is not None and session is None and era is not Era.MODERN:
            failure = era if isinstance(era, Failure) else sessionless(inbound.headers)
            return self._refuse_unreadable(Unreadable(failure), inbound, None)
        if session is not None and era is not Era.MODERN:
            session.hear_client(message, raw)
        if inbound.headers is None and message.method == "notifications/cancelled":
            self._cancel(message.params or {})
        return ACCEPTED

    def _cancel(self, params: JsonObject) -> None:
        request_id = params.get("requestId")
        if isinstance(request_id, str | int) and not isinstance(request_id, bool):
            running = self._in_flight.pop(request_id, None)
            if running is not None:
                running.question.reason = params.get("reason")
                running.task.cancel()

    def _take_answer(self, message: Response, raw: bytes, session: Session | None, inbound: Inbound) -> Reply:
        """Answers belong to legacy sessions. What we say to a stray one does not carry its id: that id is ours."""
        if session is not None:
            if not session.take_answer(message, raw):
                self.house.journal.count_malformed("stray_answer")
            return ACCEPTED
        failure = fail("NOT_A_REQUEST", details={"reason": "answer"})
        return self._refuse_unreadable(Unreadable(failure), inbound, None)

    async def _refuse(self, request: Request, failure: Failure, inbound: Inbound, session: Session | None) -> Reply:
        """A request that was not relayed, or had no answer: recorded, and answered with a protocol error."""
        failure = await self.house.journal.refuse(
            failure,
            transport=inbound.transport,
            profile=PROFILE,
            method=request.method,
            principal=inbound.caller.principal,
        )
        return reply_of(write_failure(request.id, failure, self._facts(self._revision_of(inbound, session))))

    def _refuse_unreadable(self, message: Unreadable, inbound: Inbound, session: Session | None) -> Reply:
        """Bytes that are no message: counted, and told why. Over HTTP this is a bad request in either era."""
        self.house.journal.count_malformed(str(message.failure.details.get("reason", message.failure.code)))
        written = write_failure(message.id, message.failure, self._facts(self._revision_of(inbound, session)))
        headers = tuple(http_dialect.headers_of(message.failure).items())
        return Reply(body=written.body, status=written.status, headers=headers)

    def _facts(self, revision: Revision) -> Facts:
        return Facts(timestamp=self.house.clock.timestamp(), revision=revision.name)

    def _revision_of(self, inbound: Inbound, session: Session | None) -> Revision:
        return revision_of(inbound) if session is None else session.revision
