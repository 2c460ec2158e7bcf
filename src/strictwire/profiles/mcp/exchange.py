"""One request of a client while it is answered, and what an MCP endpoint serves: backends and sessions."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

import msgspec

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Facts, Failure
from strictwire.pipeline.record import Journal
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet, Reply
from strictwire.profiles.mcp.quota import SessionLimits
from strictwire.profiles.mcp.results import write_failure
from strictwire.profiles.mcp.streams import Streams
from strictwire.wire.envelope import Notification, Request, Response
from strictwire.wire.revisions import Revision
from strictwire.wire.session import InFlight

PROFILE: Final = "mcp"


class Exchange(msgspec.Struct, eq=False):
    """A request, where its interim messages go, and how it is answered."""

    request: Request
    raw: bytes
    """The whole message, as the client wrote it."""
    inbound: Inbound
    outlet: Outlet
    deliver: Deliver
    revision: Revision
    """The one that the request is answered in."""
    journal: Journal
    in_flight: InFlight[Exchange] | None = None
    """The table that its id is in until it is answered; None where every request stands alone."""
    task: asyncio.Task[object] | None = None
    cancel_reason: JsonValue = None
    """The reason in the client's cancellation, if there is one."""

    def leave(self) -> None:
        """Free the id."""
        in_flight = self.in_flight
        if in_flight is not None and in_flight.get(self.request.id) is self:  # it may belong to a newer request by now
            del in_flight[self.request.id]

    def cancel(self, reason: JsonValue = None) -> None:
        """Stop answering, unless the answer only waits for its record."""
        self.leave()
        self.cancel_reason = reason
        if self.task is not None:
            self.task.cancel()

    def answer(self, reply: Reply) -> None:
        """Deliver the answer."""
        if self.in_flight is not None:
            self.leave()
        self.deliver(reply)

    def refuse(self, failure: Failure) -> None:
        """Record and deliver a protocol error: the request never became a call."""
        self.journal.refuse(
            failure,
            transport=self.inbound.transport,
            profile=PROFILE,
            method=self.request.method,
            caller=self.inbound.caller,
            answer=self._answer_failure,
        )

    def _answer_failure(self, failure: Failure) -> None:
        facts = Facts(timestamp=self.journal.clock.timestamp(), revision=self.revision.name)
        self.answer(write_failure(self.request.id, failure, facts))


class Session(Protocol):
    """A legacy session as the endpoint sees it."""

    id: str | None
    """None where the transport itself is the session (stdio)."""
    principal: str
    """Who opened it; no other caller may use it."""
    revision: Revision
    in_flight: InFlight[Exchange]
    streams: Streams
    closed: asyncio.Event
    opening: bytes
    """The answer to its `initialize`."""

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request."""

    def hear(self, notification: Notification, raw: bytes) -> None:
        """Take a notification of the client."""

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """Take an answer of the client to a request of ours; False if there was none."""

    def attach(self, outlet: Outlet) -> None:
        """Send messages that belong to no request here."""

    def detach(self, outlet: Outlet) -> None:
        """That stream is gone."""

    def end_input(self) -> None:
        """The client will answer nothing any more."""

    def retire(self) -> None:
        """Another session takes its place on the same connection."""

    async def close(self) -> None:
        """End the session: cancel its requests and free what it holds."""


class Backend(Protocol):
    """What one endpoint serves: our own catalogue, or the guard's upstreams."""

    journal: Journal
    session_limits: SessionLimits
    """Legacy sessions that are kept over HTTP."""

    async def open_session(self, exchange: Exchange, session_id: str | None) -> Session | Reply | Failure:
        """A new legacy session for an `initialize`; or the error to answer it with."""

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request of the stateless era."""

    def end_input(self) -> None:
        """The input has ended: subscriptions end."""

    async def close(self) -> None:
        """Free everything that is held."""
