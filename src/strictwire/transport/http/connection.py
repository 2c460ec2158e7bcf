"""One HTTP/1.1 connection of our own server: requests in order, deadlines and backpressure. An asyncio protocol.

Requests are answered one after the other. Reading stops while one waits behind another, and while the client does not read
its responses. Each connection has a deadline at every moment, except while an endpoint works on a request that has arrived.
Not here: how requests are read (`parser`), what happens to them (`rules`, `responder`).
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import Any, Final

from strictwire.fault.failure import Failure, fail
from strictwire.profiles.endpoint import Reply
from strictwire.transport.http import http1
from strictwire.transport.http.cors import HeaderFields
from strictwire.transport.http.handoff import FindOwner
from strictwire.transport.http.parser import ParsedRequest, RequestParser
from strictwire.transport.http.pool import ConnectionPool
from strictwire.transport.http.responder import Responder
from strictwire.transport.http.rules import Admitted, problem

_NO_ROOM: Final = http1.render_response(problem(fail("OVERLOADED")), method="POST", keep_alive=False)


class HttpConnection(asyncio.Protocol):
    """One connection. It receives from the parser (`Receiver`) and is where requests are answered (`Response`)."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._limits = pool.limits
        self._loop = asyncio.get_running_loop()
        self._parser = RequestParser(self, pool.site, pool.limits)
        self._queue: deque[ParsedRequest] = deque()
        self._request = ParsedRequest()
        """The request that is being answered, or was last."""
        self._answering = False
        self._responder: Responder | None = None
        """Set while an endpoint works on the request."""
        self._transport: Any = None
        self.principal: str | None = None
        """See `PooledConnection`."""
        self._deadline = math.inf
        self._write_deadline = math.inf
        """Set while the client does not read."""
        self._unsent = 0
        """Bytes that waited for the client when that was last looked at."""
        self._advancing = False
        self._reading = True
        self._closing = False

    # What the event loop calls.

    def connection_made(self, transport: Any) -> None:
        """Take the connection, or drop it if there is no room. Its first authorised head decides whether it is served."""
        self._transport = transport
        self._set_deadline(self._limits.idle_seconds)
        if not self._pool.add(self):
            self._parser.stop()
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read requests, and answer the first."""
        self._parser.feed(data)
        self._advance()

    def eof_received(self) -> None:
        """The client sends no more, so it is gone: none of them half-closes. What was sent before has time to arrive."""
        self.close()

    def pause_writing(self) -> None:
        """The client is behind: read nothing more from it, and expect it to catch up."""
        self._unsent = self._transport.get_write_buffer_size()
        self._write_deadline = self._loop.time() + self._limits.write_seconds
        self._set_reading()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._write_deadline = math.inf
        if self._is_idle:
            self._set_deadline(self._limits.idle_seconds)
        self._advance()

    def connection_lost(self, _exc: Exception | None) -> None:
        """The client is gone, or was disconnected."""
        self._closing = True
        self._parser.release()
        self._pool.discard(self)
        self._queue.clear()
        if self._responder is not None:
            self._responder.client_gone()

    # What the parser calls.

    def request_began(self) -> None:
        """The request has to arrive in time, whether or not another is being answered."""
        self._set_deadline(self._limits.read_seconds)

    def request_complete(self, request: ParsedRequest) -> None:
        """The request waits for its turn; one that was refused is the last."""
        self._deadline = math.inf
        self._queue.append(request)

    def head_authorised(self, principal: str) -> Failure | None:
        """The connection has a caller, and a place if there is one for that caller."""
        return self._pool.authorise(self, principal)

    def body_grew(self, size: int) -> Failure | None:
        """A large body takes memory that all clients share."""
        return None if self._pool.hold(self, size) else fail("OVERLOADED")

    def body_wanted(self) -> None:
        """Ask for the body, unless a response to an earlier request comes first."""
        if not self._answering and not self._queue:
            self._write(http1.CONTINUE)

    # What the responder calls.

    @property
    def is_open(self) -> bool:
        """Whether the client is still there."""
        return not self._transport.is_closing()

    def send_reply(self, reply: Reply) -> None:
        """Send a whole response."""
        request = self._request
        self._write(http1.render_response(reply, method=request.method, keep_alive=request.keep_alive))
        self._finish()

    def start_stream(self, headers: HeaderFields) -> None:
        """Send the head of an event stream. HTTP/1.0 has no chunks: there the stream ends with the connection."""
        if self._request.is_chunkable:
            headers = (*headers, ("Transfer-Encoding", "chunked"))
        else:
            self._request.keep_alive = False
        self._write(http1.render_head(200, headers, keep_alive=self._request.keep_alive))

    def send_event(self, data: bytes) -> None:
        """Send a piece of an event stream."""
        self._write(http1.chunk(data) if self._request.is_chunkable else data)

    def end_stream(self) -> None:
        """End an event stream."""
        self._write(http1.LAST_CHUNK if self._request.is_chunkable else b"")
        self._finish()

    # What the pool and the server call.

    @property
    def is_idle(self) -> bool:
        """See `PooledConnection`: also the last response has left."""
        return self._is_idle and not self._transport.get_write_buffer_size()

    @property
    def idle_until(self) -> float:
        """See `PooledConnection`."""
        return self._deadline

    @property
    def behind_until(self) -> float:
        """See `PooledConnection`."""
        return self._write_deadline

    @property
    def held_bytes(self) -> int:
        """See `PooledConnection`: bodies until they are answered, and responses until they are sent."""
        answering = self._request.kept_size if self._answering else 0
        waiting = sum(each.kept_size for each in self._queue)
        return answering + waiting + self._parser.body_size + int(self._transport.get_write_buffer_size())

    def evict(self) -> None:
        """See `PooledConnection`. A client that is sending a request gets 503 if it can be sent at once."""
        if self._parser.reading and not self._closing:
            self._transport.write(_NO_ROOM)
        self._closing = True
        self._parser.stop()
        self._transport.abort()

    def check_deadlines(self, now: float) -> None:
        """End what is overdue. Called for every connection, again and again."""
        if self._write_deadline != math.inf or self._closing:
            if now >= (self._deadline if self._closing else self._write_deadline):
                self._check_progress(now)
        elif now < self._deadline:
            return
        elif self._parser.reading:
            self._parser.refuse(fail("HTTP_MALFORMED", text="The request did not arrive in time"))
            self._advance()
        else:
            self._transport.abort()

    def close(self) -> None:
        """Close the connection as soon as the client has read what was sent."""
        self._closing = True
        self._deadline = min(self._deadline, self._loop.time() + self._limits.write_seconds)
        self._unsent = self._transport.get_write_buffer_size()
        self._parser.stop()
        self._transport.close()

    # Requests, one after the other.

    def _advance(self) -> None:
        """Begin the next request, if none is being answered. A loop: a request may be answered before `_begin` returns."""
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._queue and not (self._answering or self._closing) and self._write_deadline == math.inf:
                self._begin(self._queue.popleft())
        finally:
            self._advancing = False
        self._set_reading()

    def _begin(self, request: ParsedRequest) -> None:
        self._request, self._answering = request, True
        if self._pool.find_owner is not None and self._hand_off(request, self._pool.find_owner):
            return
        body = None if request.size > self._pool.site.max_body else bytes(request.body)
        request.body = b""  # an idle connection must not keep its last body
        responder = self._pool.dispatcher.respond(request.decision, body, self)
        self._responder = responder if self._answering else None

    def _hand_off(self, request: ParsedRequest, find_owner: FindOwner) -> bool:
        """Pass the connection to the worker that has the session of this request; whether that was done.

        A connection stays where a request is only partly read, or a response not yet sent. Clients that wait for each
        response before they send the next request, as MCP clients do, never get there.
        """
        owner = find_owner(request.decision.head.headers) if isinstance(request.decision, Admitted) else None
        if owner is None or self._parser.reading or self._parser.stopped or self._transport.get_write_buffer_size():
            return False
        waiting = (request, *self._queue)
        if any(each.size > self._pool.site.max_body for each in waiting):
            return False
        received = b"".join(each.render() for each in waiting)
        if not owner.send(self._transport.get_extra_info("socket").fileno(), received):
            return False
        self._closing = True
        self._transport.abort()
        return True

    def _finish(self) -> None:
        """A response is complete: go on with the next request, or end the connection."""
        self._answering, self._responder = False, None
        if self._closing:
            return
        if self._request.keep_alive:
            if self._is_idle:
                self._set_deadline(self._limits.idle_seconds)
            self._advance()
        elif self._parser.stopped:
            self._linger()
        else:
            self.close()

    def _linger(self) -> None:
        """Send nothing more, and let a client that is still sending read why before the connection ends."""
        self._closing = True
        # First, because what follows may fail: a client that has reset the connection makes `write_eof` raise ENOTCONN.
        self._set_deadline(self._limits.linger_seconds)
        self._queue.clear()
        if self._transport.is_closing():
            return
        try:
            self._transport.write_eof()
        except OSError:
            self._transport.abort()
        else:
            self._set_reading()

    # Deadlines and backpressure.

    @property
    def _is_idle(self) -> bool:
        return not (self._answering or self._queue or self._parser.reading)

    def _set_deadline(self, seconds: float) -> None:
        self._deadline = self._loop.time() + seconds

    def _set_reading(self) -> None:
        """Read, unless a request waits already or the client is behind. What a refused client still sends is read away."""
        wanted = self._closing or (not self._queue and self._write_deadline == math.inf)
        if wanted == self._reading or self._transport.is_closing():
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
        if self._parser.reading and not self._parser.stopped:  # its time runs only while it can arrive
            self._deadline = self._loop.time() + self._limits.read_seconds if wanted else math.inf

    def _write(self, data: bytes) -> None:
        if self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > self._limits.max_unsent:
            self._transport.abort()
            return
        self._transport.write(data)
        unsent = self._transport.get_write_buffer_size()
        if unsent and not self._pool.hold(self, min(unsent, len(data))):
            self._transport.abort()

    def _check_progress(self, now: float) -> None:
        """Disconnect a client that has read too little of what waits for it since the last look."""
        unsent = self._transport.get_write_buffer_size()
        if self._unsent - unsent < self._limits.min_sent:
            self._transport.abort()
            return
        self._unsent = unsent
        if self._closing:
            self._set_deadline(self._limits.write_seconds)
        else:
            self._write_deadline = now + self._limits.write_seconds
