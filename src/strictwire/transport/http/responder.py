"""Answers one admitted request: runs its endpoint and turns what that gives into a response.

The response is JSON, or an event stream as soon as the endpoint sends a message before its reply. Below this are the HTTP
servers, which implement `Response`; they know nothing of endpoints, events or eras.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Collection, Coroutine
from typing import Any, Protocol

from strictwire.profiles.exchange import Endpoint, Inbound, Reply, answering
from strictwire.transport.http import sse
from strictwire.transport.http.cors import HeaderFields
from strictwire.transport.http.rules import Admitted, Answered, Decision, with_headers

log = logging.getLogger("strictwire.http")


class Response(Protocol):
    """Where one request is answered: either one `send_reply`, or `start_stream`, events and `end_stream`."""

    @property
    def is_open(self) -> bool:
        """Whether the client is still there."""

    def send_reply(self, reply: Reply) -> None:
        """Send a whole response."""

    def start_stream(self, headers: HeaderFields) -> None:
        """Send the head of a response whose body follows piece by piece."""

    def send_event(self, data: bytes) -> None:
        """Send a piece of that body."""

    def end_stream(self) -> None:
        """End that body."""


class Responder:
    """One request in an endpoint. It is the outlet for messages before the reply, and takes the reply."""

    __slots__ = ("_admitted", "_dispatcher", "_ended", "_inbound", "_opened", "_response", "_timer", "closed", "task")

    def __init__(self, admitted: Admitted, inbound: Inbound, response: Response, dispatcher: Dispatcher) -> None:
        self._admitted = admitted
        self._inbound = inbound
        self._response = response
        self._dispatcher = dispatcher
        self._opened = False
        self._timer: asyncio.TimerHandle | None = None
        self._ended: asyncio.Future[None] | None = None
        self.closed = False
        """Whether the response is complete; the endpoint may still run."""
        self.task: asyncio.Task[None] | None = None

    @property
    def is_call(self) -> bool:
        """Whether the response comes to an end by itself; that to a GET is a stream without one."""
        return self._inbound.verb == "POST"

    async def run(self) -> None:
        """Serve the request. Ends early if the client or a `notifications/cancelled` cancels it."""
        endpoint, inbound = self._admitted.endpoint, self._inbound
        try:
            await _serve(endpoint, inbound, self)
        except asyncio.CancelledError:
            # There is no reply to a cancelled request. Over HTTP that is a stream that ends without one.
            self.open()
            self.close()
        except Exception:
            log.exception("a fault in %s", type(endpoint).__name__)
            self.deliver(endpoint.refuse_fault(inbound))

    def deliver(self, reply: Reply) -> None:
        """Send the reply, as the last event if a stream was opened. Later calls have no effect."""
        if self.closed:
            return
        if self._opened:
            if reply.body is not None:
                self.send(reply.body)
            self.close()
            return
        self._end()
        self._response.send_reply(with_headers(reply, self._admitted.cors))

    def client_gone(self) -> None:
        """The client has disconnected: in the stateless era, and for a GET, that cancels the request."""
        if self.task is not None and self._admitted.endpoint.cancels_on_disconnect(self._inbound):
            self.task.cancel()

    # What an endpoint calls (`Outlet`).

    def open(self) -> None:
        """Commit to an event stream."""
        if not self._opened and not self.closed:
            self._opened = True
            self._response.start_stream((*sse.HEADERS, *self._admitted.cors))
            self._schedule_keep_alive()

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        """Send an event; False if the client is gone."""
        self.open()
        if self.closed or not self._response.is_open:
            return False
        self._response.send_event(sse.event(message, event_id=event_id, retry_ms=retry_ms))
        return True

    def close(self) -> None:
        """End the stream. The endpoint may go on, for a client that resumes."""
        if self._timer is not None:
            self._timer.cancel()
        if self._opened and not self.closed:
            self._response.end_stream()
        self._end()

    def wait_ended(self) -> asyncio.Future[None]:
        """Done when the response is complete."""
        self._ended = asyncio.get_running_loop().create_future()
        return self._ended

    def _end(self) -> None:
        self.closed = True
        self._dispatcher.forget(self)
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _schedule_keep_alive(self) -> None:
        seconds = self._dispatcher.keep_alive_seconds
        self._timer = asyncio.get_running_loop().call_later(seconds, self._send_keep_alive)

    def _send_keep_alive(self) -> None:
        if not self.closed and self._response.is_open:
            self._response.send_event(sse.KEEP_ALIVE)
            self._schedule_keep_alive()


class Dispatcher:
    """Hands requests that have arrived to their endpoints, one task each."""

    def __init__(self, keep_alive_seconds: float) -> None:
        self.keep_alive_seconds = keep_alive_seconds
        self._open: set[Responder] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        """The event loop itself holds tasks only weakly."""

    def respond(self, decision: Decision, body: bytes | None, response: Response) -> Responder | None:
        """Answer a request; without a body it was too large to keep. Returns what still runs, if anything does."""
        if isinstance(decision, Answered):
            response.send_reply(decision.reply)
            return None
        head = decision.head
        inbound = Inbound(body=body or b"", transport="http", caller=decision.caller, headers=head.headers, verb=head.method)
        responder = Responder(decision, inbound, response, self)
        if body is None:
            responder.deliver(decision.endpoint.refuse_oversized(inbound))
            return None
        responder.task = self._start(responder.run())
        if responder.closed:
            return None
        self._open.add(responder)
        return responder

    def forget(self, responder: Responder) -> None:
        """A response is complete."""
        self._open.discard(responder)

    async def close(self, endpoints: Collection[Endpoint], stop_seconds: float) -> None:
        """Let running requests finish, and close the endpoints; streams without an end finish with those."""
        for endpoint in endpoints:
            endpoint.end_input()
        running = [responder.wait_ended() for responder in self._open if responder.is_call]
        if running:
            await asyncio.wait(running, timeout=stop_seconds)
        for endpoint in endpoints:
            await endpoint.close()
        await asyncio.sleep(0)

    def _start(self, serving: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task for one request. On Python 3.12 and later it runs at once until it first waits."""
        loop = asyncio.get_running_loop()
        if sys.version_info < (3, 12):
            task = loop.create_task(serving)
        else:
            task = asyncio.Task(serving, loop=loop, eager_start=True)
        if not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return task


async def _serve(endpoint: Endpoint, inbound: Inbound, responder: Responder) -> None:
    rest = answering(endpoint)(inbound, responder, responder.deliver)
    if rest is not None:
        await rest
