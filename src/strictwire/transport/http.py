"""Streamable HTTP: one asyncio protocol on the llhttp parser (httptools), which is all that MCP needs of HTTP/1.1.

A request is answered with JSON, or with an event stream as soon as its endpoint sends something before the answer.
Connections are bounded in number, in time and in what may wait to be read. Not here: who may call (`gatekeeper`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import httptools

from strictwire.canon.json import render
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.exchange import Endpoint, Headers, Inbound, Reply
from strictwire.transport import sse
from strictwire.transport.gatekeeper import Gatekeeper, find_content_fault

MAX_HEAD: Final = 64 * 1024
"""Request line and headers together; nginx takes 32 KB, Node 16 KB."""

MAX_CONNECTIONS: Final = 2000
"""Open at once; past it a connection is told to come back later."""

HEAD_SECONDS: Final = 15.0
"""From the first byte of a request to the end of its body."""

IDLE_SECONDS: Final = 75.0
"""An idle connection is kept this long, as nginx does."""

KEEP_ALIVE_SECONDS: Final = 15.0
"""A quiet event stream gets a comment this often."""

MAX_UNREAD: Final = 8 * 1024 * 1024
"""Bytes that may wait for a client that does not read; past it the client is cut off."""

_PHRASES: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_OPEN_STREAM: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"
    b"X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n"
)
_CORS_HEADERS: Final = (
    ("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS"),
    (
        "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
    ),
    ("Access-Control-Max-Age", "600"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one listener serves."""

    endpoints: Mapping[str, Endpoint]
    """Path to endpoint."""
    gatekeeper: Gatekeeper
    max_body: int
    health: bytes = b'{"status":"ok"}'


@dataclass(slots=True)
class _Incoming:
    """A request that is being read."""

    url: bytes = b""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    head_size: int = 0
    verb: str = ""
    keep_alive: bool = True
    caller: Caller | None = None
    refusal: Failure | None = None
    body: list[bytes] = field(default_factory=list)
    size: int = 0
    headers: Headers = field(default_factory=lambda: Headers(()))


class StreamOutlet:
    """The event stream of one request, opened when there is something to send."""

    def __init__(self, connection: HttpConnection, extra: bytes) -> None:
        self._connection = connection
        self._extra = extra
        self._timer: asyncio.TimerHandle | None = None
        self.opened = False
        self.closed = False

    def open(self) -> None:
        """Send the head of a stream."""
        if not self.opened and not self.closed:
            self.opened = True
            self._connection.write(_OPEN_STREAM + self._extra + b"\r\n")
            self._keep_alive()

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        """Send an event; False if the client is gone."""
        self.open()
        if self.closed or self._connection.gone:
            return False
        self._connection.write(sse.chunk(sse.event(message, event_id=event_id, retry_ms=retry_ms)))
        return True

    def close(self) -> None:
        """Send the end of the stream."""
        if self._timer is not None:
            self._timer.cancel()
        if self.opened and not self.closed:
            self._connection.write(sse.LAST_CHUNK)
            self._connection.stream_ended()
        self.closed = True

    def _keep_alive(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(KEEP_ALIVE_SECONDS, self._beat)

    def _beat(self) -> None:
        if not self.closed and not self._connection.gone:
            self._connection.write(sse.chunk(sse.KEEP_ALIVE))
            self._keep_alive()


class HttpConnection(asyncio.Protocol):
    """One connection: requests one after the other, each answered before the next is begun."""

    def __init__(self, site: Site, connections: set[HttpConnection]) -> None:
        self._site = site
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._incoming = _Incoming()
        self._waiting: deque[_Incoming] = deque()
        self._task: asyncio.Task[None] | None = None
        self._inbound: Inbound | None = None
        self._endpoint: Endpoint | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._transport: Any = None
        self._closing = False
        self._keep = True
        self.gone = False

    # What the event loop calls.

    def connection_made(self, transport: Any) -> None:
        """Take the connection in, or send it away if there are too many."""
        self._transport = transport
        transport.set_write_buffer_limits(high=MAX_UNREAD)
        if len(self._connections) >= MAX_CONNECTIONS:
            self._refuse_at_once(fail("OVERLOADED"))
            return
        self._connections.add(self)
        self._watch(IDLE_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Feed the parser. What it cannot read gets one clear answer, and the connection ends."""
        if self._closing:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse_at_once(fail("HTTP_MALFORMED"))
        except httptools.HttpParserError:
            if not self._closing:
                self._refuse_at_once(fail("HTTP_MALFORMED"))

    def connection_lost(self, _exc: Exception | None) -> None:
        """The client is gone; in the stateless era that cancels what it asked."""
        self.gone = True
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        cancels = self._endpoint is not None and self._inbound is not None
        if self._task is not None and cancels and self._endpoint.cancels_on_disconnect(self._inbound):  # type: ignore[union-attr,arg-type]
            self._task.cancel()

    def pause_writing(self) -> None:
        """More waits than a client may leave unread: it is cut off."""
        self._transport.abort()

    # What the parser calls.

    def on_message_begin(self) -> None:
        """A new request."""
        self._incoming = _Incoming()
        if self._task is None:
            self._watch(HEAD_SECONDS)

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        self._incoming.url += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header field."""
        self._incoming.pairs.append((name.decode("latin-1"), value.decode("latin-1")))
        self._count_head(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """Judge the head, before any of the body is kept."""
        incoming = self._incoming
        incoming.verb = self._parser.get_method().decode("latin-1")
        incoming.keep_alive = self._parser.should_keep_alive()
        incoming.headers = Headers(incoming.pairs)
        admitted = self._site.gatekeeper.admit(incoming.headers)
        if isinstance(admitted, Failure):
            incoming.refusal = admitted
        else:
            incoming.caller = admitted
        if (
            incoming.headers.get(
                "expect",
            )
            == "100-continue"
            and incoming.refusal is None
        ):
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """A piece of the body; past the limit it is counted and dropped."""
        incoming = self._incoming
        incoming.size += len(body)
        if incoming.size <= self._site.max_body and incoming.refusal is None:
            incoming.body.append(body)
        else:
            incoming.body.clear()
            # Reading on would only serve a sender of endless bodies; the answer is clear already.
            if incoming.size > 2 * self._site.max_body:
                incoming.keep_alive = False
                self._answer_now(incoming)

    def on_message_complete(self) -> None:
        """The request is whole: answer it when its turn comes."""
        if not self._closing:
            self._waiting.append(self._incoming)
            self._next()

    # Answering.

    def write(self, data: bytes) -> None:
        """Send bytes to a client that is still there."""
        if not self.gone and not self._transport.is_closing():
            self._transport.write(data)

    def stream_ended(self) -> None:
        """The response is complete although its request still runs: the connection is free."""
        self._task = None
        self._finish()

    def drop(self) -> None:
        """Close as soon as what was written is sent."""
        self._closing = True
        self._transport.close()

    def _next(self) -> None:
        if self._task is not None or not self._waiting or self._closing:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        incoming = self._waiting.popleft()
        self._keep = incoming.keep_alive
        if len(self._waiting) > 0:
            self._transport.pause_reading()
        self._task = self._loop.create_task(self._respond(incoming))

    async def _respond(self, incoming: _Incoming) -> None:
        path = incoming.url.partition(b"?")[0].decode("latin-1")
        endpoint = self._site.endpoints.get(path)
        extra = self._cors(incoming)
        failure = incoming.refusal
        if failure is None and incoming.verb == "OPTIONS":
            self._send(Reply(status=204, headers=_CORS_HEADERS), extra)
        elif failure is None and path == "/healthz" and incoming.verb in ("GET", "HEAD"):
            self._send(Reply(body=self._site.health), extra)
        elif failure is not None or endpoint is None:
            self._send_problem(failure or fail("PATH_UNKNOWN"), extra)
        else:
            await self._serve(endpoint, incoming, extra)
            return
        self._finish()

    async def _serve(self, endpoint: Endpoint, incoming: _Incoming, extra: bytes) -> None:
        inbound = Inbound(
            body=b"".join(incoming.body),
            transport="http",
            caller=incoming.caller or Caller(),
            headers=incoming.headers,
            verb=incoming.verb,
        )
        refused = self._find_refusal(endpoint, inbound, incoming)
        if refused is not None:
            self._send_problem(refused, extra) if isinstance(refused, Failure) else self._send(refused, extra)
            self._finish()
            return
        self._endpoint, self._inbound = endpoint, inbound
        outlet = StreamOutlet(self, extra)
        mine = asyncio.current_task()
        try:
            reply = await endpoint.serve(inbound, outlet)
        except asyncio.CancelledError:
            outlet.close()
            self.drop()
            return
        finally:
            if self._task is mine:
                self._endpoint = self._inbound = None
        if outlet.closed:
            return
        if outlet.opened:
            if reply.body is not None:
                outlet.send(reply.body)
            outlet.close()
            return
        self._send(reply, extra)
        self._finish()

    def _find_refusal(self, endpoint: Endpoint, inbound: Inbound, incoming: _Incoming) -> Failure | Reply | None:
        if inbound.verb != "POST":
            return None
        if incoming.size > self._site.max_body:
            return endpoint.refuse_oversized(inbound)
        return find_content_fault(incoming.headers, endpoint.answers_in)

    def _finish(self) -> None:
        self._task = None
        if not self._keep or self._closing:
            self.drop()
        elif not self.gone:
            if not self._transport.is_reading():
                self._transport.resume_reading()
            self._watch(IDLE_SECONDS)
            self._next()

    def _send(self, reply: Reply, extra: bytes) -> None:
        head = [b"HTTP/1.1 %d %b\r\n" % (reply.status, _PHRASES.get(reply.status, b""))]
        head += [b"%b: %b\r\n" % (name.encode(), value.encode("latin-1")) for name, value in reply.headers]
        if reply.body is not None:
            kinds = {name.lower() for name, _ in reply.headers}
            head += [] if "content-type" in kinds else [b"Content-Type: application/json\r\n"]
        if reply.status != HTTPStatus.NO_CONTENT:
            head.append(b"Content-Length: %d\r\n" % len(reply.body or b""))
        if not self._keep:
            head.append(b"Connection: close\r\n")
        self.write(b"".join(head) + extra + b"\r\n" + (reply.body or b""))

    def _send_problem(self, failure: Failure, extra: bytes) -> None:
        body = render(http_dialect.render(failure, Facts()))
        headers = (("Content-Type", http_dialect.MEDIA_TYPE), *http_dialect.headers_of(failure).items())
        self._send(Reply(body=body, status=http_dialect.status_of(failure), headers=headers), extra)

    def _refuse_at_once(self, failure: Failure) -> None:
        self._keep = False
        self._send_problem(failure, b"")
        self.drop()

    def _answer_now(self, incoming: _Incoming) -> None:
        """Answer a request that is not whole, because the rest of it does not matter."""
        self._waiting.append(incoming)
        self._next()
        self._transport.pause_reading()

    def _cors(self, incoming: _Incoming) -> bytes:
        """A browser shows the answer to a page only if we name its origin."""
        origin = incoming.headers.get("origin")
        if origin is None or incoming.refusal is not None:
            return b""
        shown = origin.encode("latin-1")
        return (
            b"Access-Control-Allow-Origin: %b\r\nAccess-Control-Expose-Headers: Mcp-Session-Id\r\nVary: Origin\r\n" % shown
        )

    def _count_head(self, size: int) -> None:
        self._incoming.head_size += size
        if self._incoming.head_size > MAX_HEAD and not self._closing:
            self._refuse_at_once(fail("HTTP_MALFORMED", text="The request head is too large"))

    def _watch(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self._task is None:
            self.drop()


class HttpServer:
    """A listener."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._connections: set[HttpConnection] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which the system chooses for 0. Raises OSError: cannot listen there."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: HttpConnection(self._site, self._connections), host, port, backlog=1024
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening, end what is open, close every connection."""
        if self._server is None:
            return
        self._server.close()
        for endpoint in self._site.endpoints.values():
            endpoint.end_input()
            await endpoint.close()
        await asyncio.sleep(0)
        for connection in tuple(self._connections):
            connection.drop()
