"""The `mcp` profile: both eras on one endpoint. Reads one message, routes it, and has it answered exactly once.

The same endpoint serves our own tools and the guard's upstreams; what differs is its backend (`exchange.Backend`).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, Limits, parse, render
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.profiles.endpoint import Deliver, Headers, Inbound, Outlet, Reply
from strictwire.profiles.mcp.era import Route, route_of
from strictwire.profiles.mcp.exchange import Backend, Exchange, Session
from strictwire.profiles.mcp.http_rules import (
    ACCEPTED,
    cancels_on_disconnect,
    find_stream_fault,
    find_verb_fault,
    hold_stream,
    revision_of,
    sessionless,
)
from strictwire.profiles.mcp.quota import SessionQuota
from strictwire.profiles.mcp.results import write_failure
from strictwire.profiles.mcp.streams import deliver_on_stream
from strictwire.profiles.mcp.targets import malformed
from strictwire.wire.envelope import (
    Message,
    Notification,
    Request,
    Response,
    Unreadable,
    classify,
    is_request_id,
    read_message,
    render_result,
)
from strictwire.wire.names import SESSION_HEADER
from strictwire.wire.revisions import MODERN, REVISIONS, Revision
from strictwire.wire.session import MAX_IN_FLIGHT, InFlight

MAX_OPENING: Final = 16 * 1024
"""Bytes of an `initialize`; real ones have less than 2 KB. A session may keep what its client says about itself."""

MAX_BATCH: Final = 100
"""Messages in one batch of a 2025-03-26 session."""

_MODERN: Final = REVISIONS[MODERN]


class McpEndpoint:
    """Speaks MCP over one transport.

    Without headers (stdio) the connection is the conversation: one legacy session at most, one table of requests in
    flight. With headers (HTTP) every request stands alone or names its session.
    """

    answers_in = ("application/json", "text/event-stream")

    def __init__(self, backend: Backend, *, limits: Limits | None = None, session_prefix: str = "") -> None:
        """`session_prefix` begins every session id: it names the process that has the session, where there are several."""
        self.backend = backend
        self._journal = backend.journal
        self._prefix = session_prefix
        self._limits = limits or Limits()
        self._in_flight: InFlight[Exchange] = InFlight()
        self._own: Session | None = None
        """The session of a connection without headers."""
        self._opening: asyncio.Future[None] | None = None
        """Set while that session is being opened: what follows `initialize` waits for it."""
        self._sessions: SessionQuota[Session] = SessionQuota(
            backend.session_limits, is_busy=lambda session: session.in_flight, end=self._end
        )
        self._closing: set[asyncio.Task[None]] = set()

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:
        """In the stateless era a disconnect is the cancellation; in the legacy era only that of a GET is."""
        return cancels_on_disconnect(inbound)

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:
        """Answer one message."""
        if inbound.verb != "POST":
            deliver(await self._serve_verb(inbound, outlet))
            return
        message = read_message(inbound.body, self._limits)
        if self._opening is not None and inbound.headers is None:
            await asyncio.wait((self._opening,))
        session = self._own if inbound.headers is None else self._find_session(inbound)
        if isinstance(message, Request):
            await self._serve_request(message, inbound.body, session, inbound, outlet, deliver)
        elif _is_batch(message) and session is not None and session.revision.batches:
            deliver(await self._serve_batch(session, inbound, outlet))
        else:
            deliver(self._take(message, inbound.body, session, inbound))

    def end_input(self) -> None:
        """The input has ended: subscriptions end, and questions to the client fail."""
        self.backend.end_input()
        if self._own is not None:
            self._own.end_input()

    async def close(self) -> None:
        """End sessions, then the backend."""
        sessions = (*self._sessions.clear(), *([self._own] if self._own else []))
        self._own = None
        await asyncio.gather(*(session.close() for session in sessions), *self._closing, return_exceptions=True)
        await self.backend.close()

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        """The answer to a message that is too large for the transport to keep."""
        return self._refuse_unreadable(Unreadable(fail("REQUEST_TOO_LARGE")), inbound, None)

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours."""
        message = read_message(inbound.body, self._limits)
        request_id = None if isinstance(message, Notification | Response) else message.id
        return write_failure(request_id, fail("INTERNAL"), self._facts(revision_of(inbound)))

    async def _serve_request(
        self, request: Request, raw: bytes, session: Session | None, inbound: Inbound, outlet: Outlet, deliver: Deliver
    ) -> None:
        route = route_of(request.method, request.params, inbound.headers, has_session=session is not None)
        in_flight: InFlight[Exchange] | None
        if route is Route.SESSION and session is not None:
            serve, in_flight, revision = session.serve, session.in_flight, session.revision
            if inbound.headers is not None and revision.resumable:
                stream = session.streams.start(outlet)
                outlet, deliver = stream, partial(deliver_on_stream, session.streams, stream, deliver)
        elif route is Route.STATELESS:
            serve, revision = self.backend.serve, _MODERN
            in_flight = self._in_flight if inbound.headers is None else None
        else:
            revision = revision_of(inbound)
            await self._serve_unbound(Exchange(request, raw, inbound, outlet, deliver, revision, self._journal), route)
            return
        exchange = Exchange(request, raw, inbound, outlet, deliver, revision, self._journal, in_flight)
        if in_flight is not None:
            if request.id in in_flight or len(in_flight) >= MAX_IN_FLIGHT:
                exchange.refuse(fail("DUPLICATE_ID" if request.id in in_flight else "OVERLOADED"))
                return
            in_flight[request.id] = exchange
            exchange.task = asyncio.current_task()
        try:
            await serve(exchange)
        except BaseException:
            exchange.leave()
            raise

    async def _serve_unbound(self, exchange: Exchange, route: Route | Failure) -> None:
        """A request outside of a session: `initialize` begins one, `ping` is answered, any other is refused."""
        missing = sessionless(exchange.inbound.headers)
        if isinstance(route, Failure):
            exchange.refuse(route)
        elif route is Route.OPENING:
            await self._open(exchange)
        elif exchange.request.method == "ping" and missing.code == "SESSION_REQUIRED":
            exchange.answer(Reply(body=render_result(exchange.request.id, b"{}")))
        else:
            exchange.refuse(missing)

    def _take(
        self, message: Notification | Response | Unreadable, raw: bytes, session: Session | None, inbound: Inbound
    ) -> Reply:
        """A message that asks for no answer, or is none."""
        if isinstance(message, Notification):
            return self._hear(message, raw, session, inbound)
        if isinstance(message, Response):
            return self._take_answer(message, raw, session, inbound)
        return self._refuse_unreadable(message, inbound, session)

    async def _serve_batch(self, session: Session, inbound: Inbound, outlet: Outlet) -> Reply:
        """2025-03-26 requires that batches are received. Their requests run side by side; answers keep the order."""
        messages = parse(inbound.body, self._limits)
        if not isinstance(messages, list) or not 0 < len(messages) <= MAX_BATCH:
            return self._refuse_unreadable(Unreadable(fail("NOT_A_REQUEST", details={"reason": "batch"})), inbound, session)
        replies = await asyncio.gather(*(self._serve_member(each, session, inbound, outlet) for each in messages))
        bodies = [reply.body for reply in replies if reply is not None and reply.body is not None]
        return Reply(body=b"[" + b",".join(bodies) + b"]") if bodies else ACCEPTED

    async def _serve_member(self, value: JsonValue, session: Session, inbound: Inbound, outlet: Outlet) -> Reply | None:
        """The answer to one message of a batch; None if it was cancelled. `initialize` must not be among them."""
        message, raw = classify(value), render(value)
        if not isinstance(message, Request):
            return self._take(message, raw, session, inbound)
        answered: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        deliver = partial(_resolve, answered)
        try:
            if message.method == "initialize":
                member = Exchange(message, raw, inbound, outlet, deliver, session.revision, self._journal)
                member.refuse(fail("NOT_A_REQUEST", details={"reason": "initialize_in_batch"}))
            else:
                await self._serve_request(message, raw, session, inbound, outlet, deliver)
            return await answered
        except asyncio.CancelledError:
            return None

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
            self._sessions.remove(str(session.id))
            self._end(session)
            return Reply(status=204)
        refused = find_stream_fault(headers)
        if refused is not None:
            return self._refuse_unreadable(Unreadable(refused), inbound, None)
        with self._sessions.using(str(session.id)):
            return await hold_stream(session, headers, outlet)

    async def _open(self, exchange: Exchange) -> None:
        """Begin a legacy session. On stdio a second `initialize` begins it anew."""
        fault = find_opening_fault(exchange.request.params or {})
        if len(exchange.raw) > MAX_OPENING:
            fault = fail("REQUEST_TOO_LARGE", details={"limitBytes": MAX_OPENING})
        if fault is not None:
            exchange.refuse(fault)
            return
        over_http, principal = exchange.inbound.headers is not None, exchange.inbound.caller.principal
        if over_http and not self._sessions.make_room(principal):
            exchange.refuse(fail("OVERLOADED", details={"reason": "sessions"}))
            return
        session_id = self._prefix + secrets.token_urlsafe(24) if over_http else None
        opening = None if over_http else asyncio.get_running_loop().create_future()
        self._opening = opening or self._opening
        try:
            with self._sessions.opening(principal):
                opened = await self.backend.open_session(exchange, session_id)
        finally:
            if opening is not None:
                self._opening = None
                opening.set_result(None)
        if isinstance(opened, Failure):
            exchange.refuse(opened)
        elif isinstance(opened, Reply):
            exchange.answer(opened)
        else:
            self._keep(opened, exchange.outlet)
            headers = () if session_id is None else (("Mcp-Session-Id", session_id),)
            exchange.answer(Reply(body=opened.opening, headers=headers))

    def _keep(self, session: Session, outlet: Outlet) -> None:
        if session.id is None:
            if self._own is not None:
                self._own.retire()
            self._own = session
            session.attach(outlet)
            return
        self._sessions.add(session.id, session.principal, session)

    def _end(self, session: Session) -> None:
        task = asyncio.create_task(session.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _find_session(self, inbound: Inbound) -> Session | None:
        headers = inbound.headers
        if headers is None:
            return self._own
        session_id = headers.get(SESSION_HEADER)
        principal = inbound.caller.principal
        return self._sessions.find(session_id, principal) if session_id else None

    def _hear(self, message: Notification, raw: bytes, session: Session | None, inbound: Inbound) -> Reply:
        """Take a notification. Over HTTP one without a session is refused: its sender has lost the session."""
        route = route_of(message.method, message.params, inbound.headers, has_session=session is not None)
        if inbound.headers is not None and session is None and route is not Route.STATELESS:
            failure = route if isinstance(route, Failure) else sessionless(inbound.headers)
            return self._refuse_unreadable(Unreadable(failure), inbound, None)
        if message.method == "notifications/cancelled":
            if session is not None and route is not Route.STATELESS:
                _cancel(session.in_flight, message.params or {})
            if inbound.headers is None:
                _cancel(self._in_flight, message.params or {})
        elif session is not None and route is not Route.STATELESS:
            session.hear(message, raw)
        return ACCEPTED

    def _take_answer(self, message: Response, raw: bytes, session: Session | None, inbound: Inbound) -> Reply:
        """Answers belong to legacy sessions. A stray one is refused without its id: that id would be ours."""
        if session is not None:
            if not session.take_answer(message, raw):
                self._journal.count_malformed("stray_answer")
            return ACCEPTED
        failure = fail("NOT_A_REQUEST", details={"reason": "answer"})
        return self._refuse_unreadable(Unreadable(failure), inbound, None)

    def _refuse_unreadable(self, message: Unreadable, inbound: Inbound, session: Session | None) -> Reply:
        """Bytes that are no message: counted, and refused. Over HTTP this is a bad request in either era."""
        failure, revision = message.failure, revision_of(inbound) if session is None else session.revision
        self._journal.count_malformed(str(failure.details.get("reason", failure.code)))
        written = write_failure(message.id, failure, self._facts(revision))
        headers = tuple(http_dialect.headers_of(failure).items())
        return Reply(body=written.body, status=written.status, headers=headers)

    def _facts(self, revision: Revision) -> Facts:
        return Facts(timestamp=self._journal.clock.timestamp(), revision=revision.name)


def _is_batch(message: Message) -> bool:
    return isinstance(message, Unreadable) and message.failure.details.get("reason") == "batch"


def _cancel(in_flight: InFlight[Exchange], params: JsonObject) -> None:
    """Stop a running request; one that is not running is no error."""
    request_id = params.get("requestId")
    exchange = in_flight.get(request_id) if isinstance(request_id, str | int) and is_request_id(request_id) else None
    if exchange is not None:
        exchange.cancel(params.get("reason"))


def _resolve(answered: asyncio.Future[Reply | None], reply: Reply | None) -> None:
    if not answered.done():
        answered.set_result(reply)


def find_opening_fault(params: JsonObject) -> Failure | None:
    """MALFORMED_PARAMS for an `initialize` that lacks what every revision requires of it."""
    kinds: Mapping[str, type] = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
    return next((malformed(name) for name, kind in kinds.items() if not isinstance(params.get(name), kind)), None)
