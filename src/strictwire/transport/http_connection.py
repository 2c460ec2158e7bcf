"""One HTTP connection: an asyncio protocol that answers requests one after the other, all that MCP needs of HTTP/1.1.

A request is answered with JSON, or with an event stream as soon as its endpoint sends something before the answer.
Connections are bounded in number, in time and in what may wait to be read. Not here: how requests are read (`http_reader`),
who may call (`gatekeeper`).
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from strictwire.fault.failure import fail
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Endpoint, Inbound, Reply
from strictwire.transport import cors
from strictwire.transport.gatekeeper import Gatekeeper, find_content_fault
from strictwire.transport.handover import Elsewhere
from strictwire.transport.http_answer import problem, write_answer
from strictwire.transport.http_reader import RequestReader
from strictwire.transport.http_request import Heads, Incoming, write_whole
from strictwire.transport.http_stream import StreamOutlet
from strictwire.transport.message_tasks import MessageTasks

MAX_CONNECTIONS: Final = 2000
"""Open at once; past it a connection is told to come back later."""

HEAD_SECONDS: Final = 15.0
"""From the first byte of a request to the end of its body."""

IDLE_SECONDS: Final = 75.0
"""An idle connection is kept this long, as nginx does."""

MAX_UNREAD: Final = 8 * 1024 * 1024
"""Bytes that may wait for a client that does not read; whoever leaves more is cut off at the next write."""

LINGER_SECONDS: Final = 2.0
"""How long a client that is still sending has to read why it was refused; closing at once would destroy the answer."""

log = logging.getLogger("strictwire.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one listener serves."""

    endpoints: Mapping[str, Endpoint]
    """Path to endpoint."""
    gatekeeper: Gatekeeper
    max_body: int
    batch: WriteBatch
    health: bytes = b'{"status":"ok"}'
    elsewhere: Elsewhere | None = None
    """Which requests belong to another process, where there are several."""


class _Turn(msgspec.Struct):
    """A request that is being answered."""

    incoming: Incoming
    endpoint: Endpoint | None = None
    inbound: Inbound | None = None
    outlet: StreamOutlet | None = None
    task: asyncio.Task[Any] | None = None
    """What to cancel; None once only its record is waited for."""
    waiter: asyncio.Future[None] | None = None
    """Set where somebody waits for the answer to be sent."""


class Listener:
    """What the connections of one listener share."""

    def __init__(self, site: Site) -> None:
        self.tasks = MessageTasks()
        self.heads = Heads()
        self.routes = {path.encode(): endpoint for path, endpoint in site.endpoints.items()}
        self.connections: set[HttpConnection] = set()
        self._batch = site.batch
        self._leaving: list[tuple[HttpConnection, bytes]] = []

    def send_soon(self, connection: HttpConnection, data: bytes) -> None:
        """Send a whole answer with those of other connections: a client that is woken once takes many."""
        if not self._leaving:
            self._batch.add_send(self.send_all)
        self._leaving.append((connection, data))

    def send_all(self) -> None:
        """Send what is about to leave."""
        leaving, self._leaving = self._leaving, []
        for connection, data in leaving:
            connection.write(data)


class HttpConnection(asyncio.Protocol):
    """One connection: requests one after the other, each answered before the next is begun."""

    def __init__(self, site: Site, listener: Listener) -> None:
        self._site = site
        self._listener = listener
        self._tasks = listener.tasks
        self._heads = listener.heads
        self._routes = listener.routes
        self._connections = listener.connections
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader(self, site.gatekeeper, site.max_body)
        self._waiting: deque[Incoming] = deque()
        self._turn: _Turn | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._expires = math.inf
        self._transport: Any = None
        self._paused = False
        self._deaf = False
        self._closing = False
        self._keep = True
        self._verb = ""
        self.gone = False

    # What the event loop calls.

    def connection_made(self, transport: Any) -> None:
        """Take the connection in, or send it away if there are too many."""
        self._transport = transport
        if len(self._connections) >= MAX_CONNECTIONS:
            self._reader.refuse(fail("OVERLOADED"))
            return
        self._connections.add(self)
        self._watch(IDLE_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        reader = self._reader
        fresh = not (reader.reading or reader.stopped or self._waiting)
        known = self._heads.find(data) if fresh else None
        if known is None:
            reader.feed(data)
            if fresh and len(self._waiting) == 1 and not reader.reading:
                self._heads.learn(data, self._waiting[0])
        elif self._turn is None:
            self._begin(known)
            return
        else:
            self._waiting.append(known)
        self._next()

    def connection_lost(self, _exc: Exception | None) -> None:
        """The client is gone; in the stateless era that cancels what it asked."""
        self.gone = True
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        turn = self._turn
        if turn is not None and turn.task is not None and _is_abandoned(turn):
            turn.task.cancel()

    # What the reader calls.

    def request_began(self) -> None:
        """It has to be whole in time."""
        if self._turn is None:
            self._watch(HEAD_SECONDS)

    def request_came(self, incoming: Incoming) -> None:
        """It is answered when its turn comes, but not before all that came with it was read."""
        self._waiting.append(incoming)

    def request_waits(self) -> None:
        """Have the body sent, unless answers to others come first."""
        if self._turn is None and not self._waiting:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def answer_now(self, incoming: Incoming) -> None:
        """Answer a request that is not whole, because the rest of it does not matter; nothing after it is heard."""
        if self._deaf:
            return
        self._deaf = self._reader.stopped = True
        incoming.keep_alive = False
        self._waiting.append(incoming)
        self._pause()
        self._loop.call_soon(self._next)

    # Answering.

    def write(self, data: bytes) -> None:
        """Send bytes to a client that is still there and reads."""
        if self.gone or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > MAX_UNREAD:
            self._transport.abort()
        else:
            self._transport.write(data)

    def answered(self) -> asyncio.Future[None] | None:
        """What is done when the running request is answered; None if there is none, or it is a stream without an end."""
        if self._turn is None or self._turn.incoming.verb != "POST":
            return None
        self._turn.waiter = self._loop.create_future()
        return self._turn.waiter

    def stream_ended(self) -> None:
        """The response is complete although its request may still run: the connection is free."""
        self._finish()

    def drop(self) -> None:
        """Close as soon as what was written is sent."""
        self._close()
        self._transport.close()

    def _next(self) -> None:
        """Begin the next request, if none runs. Nothing more is read while one waits."""
        if not self._waiting or self._closing:
            return
        if self._turn is None:
            self._begin(self._waiting.popleft())
        if self._waiting:
            self._pause()

    def _begin(self, incoming: Incoming) -> None:
        if self._site.elsewhere is not None and self._moved(incoming, self._site.elsewhere):
            return
        self._expires = math.inf
        self._keep, self._verb = incoming.keep_alive, incoming.verb
        self._turn = turn = _Turn(incoming)
        self._respond(turn)

    def _pause(self) -> None:
        self._transport.pause_reading()
        self._paused = True

    def _moved(self, incoming: Incoming, elsewhere: Elsewhere) -> bool:
        """Whether the connection went to the process that this request belongs to."""
        give = elsewhere(incoming.head.headers) if incoming.refusal is None else None
        # Neither what is only half read can be passed on, nor answers that are not sent yet. No client comes to that: it
        # would have to send requests without waiting for the answers to those before.
        if give is None or self._reader.reading or self._deaf or incoming.size > self._site.max_body:
            return False
        self._listener.send_all()
        if self._transport.get_write_buffer_size():
            return False
        raw = b"".join(map(write_whole, (incoming, *self._waiting)))
        if not give(self._transport.get_extra_info("socket").fileno(), raw):
            return False
        self._close()
        self._transport.abort()
        return True

    def _respond(self, turn: _Turn) -> None:
        incoming = turn.incoming
        endpoint = self._routes.get(incoming.url)
        if endpoint is None or incoming.refusal is not None or incoming.verb == "OPTIONS":
            path = incoming.url.partition(b"?")[0].decode("latin-1")
            endpoint = self._site.endpoints.get(path)
            reply = self._find_reply(path, incoming)
            if reply is not None or endpoint is None:
                self._send(reply or problem(fail("PATH_UNKNOWN")), b"" if incoming.refusal else incoming.head.extra)
                self._finish()
                return
        self._serve(endpoint, turn)

    def _find_reply(self, path: str, incoming: Incoming) -> Reply | None:
        """The answer to what no endpoint is asked about."""
        if incoming.refusal is not None:
            return problem(incoming.refusal)
        if incoming.verb == "OPTIONS":
            return Reply(status=204, headers=cors.leave(incoming.head.headers))
        if path == "/healthz" and incoming.verb in ("GET", "HEAD"):
            return Reply(body=self._site.health)
        return None

    def _serve(self, endpoint: Endpoint, turn: _Turn) -> None:
        incoming = turn.incoming
        head, body, verb = incoming.head, incoming.body, incoming.verb
        inbound = Inbound(
            body=body[0] if len(body) == 1 else b"".join(body),
            transport="http",
            caller=head.caller,
            headers=head.headers,
            verb=verb,
        )
        too_large = incoming.size > self._site.max_body
        if verb == "POST" and (too_large or head.asks is not endpoint):
            fault = None if too_large else find_content_fault(head.headers, endpoint.answers_in)
            if too_large or fault is not None:
                self._send(endpoint.refuse_oversized(inbound) if fault is None else problem(fault), head.extra)
                self._finish()
                return
            head.asks = endpoint
        turn.endpoint, turn.inbound = endpoint, inbound
        outlet = turn.outlet = StreamOutlet(self, head.extra)
        if self.gone and _is_abandoned(turn):
            return
        task = self._tasks.start(endpoint, inbound, outlet, partial(self._deliver, turn))
        turn.task = None if task.done() else task

    def _deliver(self, turn: _Turn, reply: Reply | None) -> None:
        outlet, turn.task = turn.outlet, None
        if outlet is None or outlet.closed:
            return
        if reply is None:
            # Cancelled by its own client there is no answer: a stream that ends without one says so in HTTP.
            outlet.open()
            outlet.close()
            return
        if outlet.opened:
            if reply.body is not None:
                outlet.send(reply.body)
            outlet.close()
            return
        outlet.closed = True
        self._send(reply, turn.incoming.head.extra)
        self._finish()

    def _finish(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None and turn.waiter is not None and not turn.waiter.done():
            turn.waiter.set_result(None)
        if self._deaf and not self._keep:
            self._linger()
        elif not self._keep or self._closing:
            self.drop()
        elif not self.gone:
            if self._paused:
                self._paused = False
                self._transport.resume_reading()
            self._watch(IDLE_SECONDS)
            if self._waiting:
                self._loop.call_soon(self._next)

    def _send(self, reply: Reply, extra: bytes) -> None:
        data = write_answer(reply, extra, keep=self._keep, verb=self._verb)
        if self._keep and len(self._connections) > 1:
            self._listener.send_soon(self, data)
        else:
            self.write(data)

    def _close(self) -> None:
        self._closing = self._reader.stopped = True

    def _linger(self) -> None:
        """Say no more, and let a client that is still sending find that out before the connection ends."""
        self._close()
        if self.gone or self._transport.is_closing():
            return
        self._transport.write_eof()
        self._transport.resume_reading()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(LINGER_SECONDS, self._transport.abort)

    def _watch(self, seconds: float) -> None:
        """End the connection if nothing happens in time. One timer serves many requests: it looks again when it fires."""
        now = self._loop.time()
        self._expires = now + seconds
        if self._timer is None:
            self._timer = self._loop.call_at(min(self._expires, now + HEAD_SECONDS), self._look)
        elif self._timer.when() > self._expires:
            self._timer.cancel()
            self._timer = self._loop.call_at(self._expires, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._loop.time() >= self._expires:
            self._expire()
        elif self._expires != math.inf:
            self._timer = self._loop.call_at(self._expires, self._look)

    def _expire(self) -> None:
        if self._turn is not None:
            return
        if self._reader.reading and not self._deaf:
            self._reader.refuse(fail("HTTP_MALFORMED", text="The request did not arrive in time"))
        else:
            # Not `drop`: that would wait for a client that never reads its answer.
            self._transport.abort()


def _is_abandoned(turn: _Turn) -> bool:
    """Whether a client that goes away no longer wants this answered."""
    if turn.endpoint is None or turn.inbound is None:
        return False
    return turn.endpoint.cancels_on_disconnect(turn.inbound)
