"""Answers one admitted request: runs its endpoint and turns what that gives into a response.

The response is JSON, or an event stream as soon as the endpoint sends a message before its reply. Below this are the HTTP
servers, which implement `Response`; they know nothing of endpoints, events or eras.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Protocol

from strictwire.profiles.endpoint import Inbound, Reply
from strictwire.transport.fair_start import FairStart
from strictwire.transport.http import sse
from strictwire.transport.http.cors import HeaderFields
from strictwire.transport.http.rules import Admitted, Answered, Decision, Site, with_headers
from strictwire.transport.message_tasks import MessageTasks


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

    __slots__ = ("_admitted", "_dispatcher", "_inbound", "_opened", "_response", "_task", "_timer", "closed")

    def __init__(self, admitted: Admitted, inbound: Inbound, response: Response, dispatcher: Dispatcher) -> None:
        self._admitted = admitted
        self._inbound = inbound
        self._response = response
        self._dispatcher = dispatcher
        self._opened = False
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self.closed = False
        """Whether the response is complete; the endpoint may still run."""

    @property
    def is_call(self) -> bool:
        """Whether the response comes to an end by itself; that to a GET is a stream without one."""
        return self._inbound.verb == "POST"

    def deliver(self, reply: Reply | None) -> None:
        """Send the reply, as the last event if a stream was opened. A request that was cancelled has none."""
        if self.closed:
            return
        if self._opened or reply is None:
            self.open()  # over HTTP, a stream that ends without a reply says that there is none
            if reply is not None and reply.body is not None:
                self.send(reply.body)
            self.close()
        else:
            self._end()
            self._response.send_reply(with_headers(reply, self._admitted.cors))

    def start(self, tasks: MessageTasks) -> None:
        """Have the endpoint serve the request, in a task. A request that was cancelled while it waited is not begun."""
        if self.closed:
            return
        self._task = tasks.start(self._admitted.endpoint, self._inbound, self, self.deliver)

    def client_gone(self) -> None:
        """The client has disconnected: in the stateless era, and for a GET, that cancels the request."""
        if not self._admitted.endpoint.cancels_on_disconnect(self._inbound):
            return
        if self._task is not None:
            self._task.cancel()
        else:
            self._end()

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
        streams = self._opened and not self.closed
        self._end()
        if streams:
            self._response.end_stream()

    def _end(self) -> None:
        self.closed = True
        self._dispatcher.forget(self)

    def _schedule_keep_alive(self) -> None:
        seconds = self._dispatcher.keep_alive_seconds
        self._timer = asyncio.get_running_loop().call_later(seconds, self._send_keep_alive)

    def _send_keep_alive(self) -> None:
        if not self.closed and self._response.is_open:
            self._response.send_event(sse.KEEP_ALIVE)
            self._schedule_keep_alive()


class Dispatcher:
    """Hands the requests of one site that have arrived to its endpoints, one task each."""

    def __init__(self, site: Site, keep_alive_seconds: float) -> None:
        self._site = site
        self.keep_alive_seconds = keep_alive_seconds
        self._tasks = MessageTasks()
        self._fair = FairStart()
        self._open: set[Responder] = set()
        self._one_ended = asyncio.Event()

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
        self._open.add(responder)
        self._fair.start(decision.caller.principal, partial(responder.start, self._tasks), in_flight=self._tasks.count)
        return None if responder.closed else responder

    def forget(self, responder: Responder) -> None:
        """A response is complete."""
        self._open.discard(responder)
        self._one_ended.set()

    async def close(self, stop_seconds: float) -> None:
        """Let running requests finish, close the endpoints, which ends their streams, and cancel what still runs."""
        endpoints = self._site.endpoints.values()
        for endpoint in endpoints:
            endpoint.end_input()
        with suppress(TimeoutError):
            async with asyncio.timeout(stop_seconds):
                while any(responder.is_call for responder in self._open):
                    self._one_ended.clear()
                    await self._one_ended.wait()
        for endpoint in endpoints:
            await endpoint.close()
        # Calls that did not finish are cancelled and recorded while the trail, and what their handlers use, is still open.
        await self._tasks.cancel_all()
        # What closing made the endpoints deliver waits for the write batch, which ends in the next turn of the event loop.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
