"""The same rules as an ASGI application: for uvicorn, granian or hypercorn, or mounted in a larger application.

The ASGI server reads HTTP, so its limits hold for connections, heads and idle time. Ours hold for the size and time of a
body, and for clients that do not read. Connections cannot be handed off here: with several worker processes, only clients
of the stateless era are served by any of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

from strictwire.fault.failure import fail
from strictwire.profiles.endpoint import Headers, Reply
from strictwire.transport.http import http1
from strictwire.transport.http.cors import HeaderFields
from strictwire.transport.http.limits import DEFAULT_LIMITS, HttpLimits
from strictwire.transport.http.responder import Dispatcher
from strictwire.transport.http.rules import Answered, RequestHead, Site, decide, find_framing_fault, problem

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

NOT_STARTED: Final = (
    "strictwire: the ASGI lifespan did not run. Turn lifespan on in the ASGI server (uvicorn --lifespan on), or enter"
    " `app.lifespan()` in the lifespan of the application that this one is mounted in."
)

log = logging.getLogger("strictwire.http")


class AsgiApp:
    """An ASGI 3 application. The site is opened by its lifespan, on the event loop that serves it."""

    def __init__(
        self, open_site: Callable[[], AbstractAsyncContextManager[Site]], limits: HttpLimits = DEFAULT_LIMITS
    ) -> None:
        self._open_site = open_site
        self._limits = limits
        self._serving: tuple[Site, Dispatcher] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one scope. Raises RuntimeError: a request before the lifespan has started."""
        if scope["type"] == "lifespan":
            await self._serve_lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve_request(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    @asynccontextmanager
    async def lifespan(self, _parent: object = None) -> AsyncIterator[None]:
        """Open the site, and close it at the end. Frameworks that take a lifespan function pass the parent application."""
        async with self._open_site() as site:
            dispatcher = Dispatcher(site, self._limits.keep_alive_seconds)
            self._serving = site, dispatcher
            try:
                yield
            finally:
                self._serving = None
                await dispatcher.close(self._limits.stop_seconds)

    async def _serve_lifespan(self, receive: Receive, send: Send) -> None:
        stage = "startup"
        await receive()
        try:
            async with self.lifespan():
                await send({"type": "lifespan.startup.complete"})
                stage = "shutdown"
                await receive()
        except Exception:  # whatever opening or closing raises: the ASGI server decides what to do about it
            log.exception("%s failed", stage)
            await send({"type": f"lifespan.{stage}.failed", "message": f"strictwire: {stage} failed, see the log"})
        else:
            await send({"type": "lifespan.shutdown.complete"})

    async def _serve_request(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._serving is None:
            raise RuntimeError(NOT_STARTED)
        site, dispatcher = self._serving
        head = read_head(scope)
        fault = find_framing_fault(head)
        decision = decide(head, site) if fault is None else Answered(reply=problem(fault))
        body: bytes | None = b""
        if not isinstance(decision, Answered):
            try:
                async with asyncio.timeout(self._limits.read_seconds):
                    body = await read_body(receive, site.max_body)
            except TimeoutError:
                decision = Answered(reply=problem(fail("HTTP_MALFORMED", text="The request did not arrive in time")))
            except ConnectionError:
                return
        response = AsgiResponse(head.method, self._limits)
        responder = dispatcher.respond(decision, body, response)
        try:
            await response.send_all(receive, send)
        finally:
            if responder is not None and not responder.closed:
                responder.client_gone()


class AsgiResponse:
    """One response. Endpoints write without waiting, so messages are queued until the client has read those before."""

    def __init__(self, method: str, limits: HttpLimits) -> None:
        self._method = method
        self._limits = limits
        self._queue: deque[Message] = deque()
        self._unsent = 0
        self._changed = asyncio.Event()
        self._complete = False
        self._sending: asyncio.Timeout | None = None
        self.is_open = True

    def send_reply(self, reply: Reply) -> None:
        """Send a whole response."""
        self._start(reply.status, http1.response_fields(reply))
        self._send_body(b"" if self._method == "HEAD" else reply.body or b"", more=False)

    def start_stream(self, headers: HeaderFields) -> None:
        """Send the head of an event stream."""
        self._start(200, headers)

    def send_event(self, data: bytes) -> None:
        """Send a piece of an event stream; a client that has not read far more than its share is disconnected."""
        if self._unsent > self._limits.max_unsent:
            self._disconnect()
        else:
            self._send_body(data, more=True)

    def end_stream(self) -> None:
        """End an event stream."""
        self._send_body(b"", more=False)

    async def send_all(self, receive: Receive, send: Send) -> None:
        """Pass on what is queued until the response is complete or the client is gone."""
        watching: asyncio.Task[None] | None = None
        try:
            while self.is_open and (self._queue or not self._complete):
                await self._flush(send)
                if not self._complete and self.is_open:
                    # Only now: most responses are complete at once, and a task for each would cost more than the rest.
                    watching = watching or asyncio.create_task(self._watch(receive))
                    await self._changed.wait()
                    self._changed.clear()
        finally:
            if watching is not None:
                watching.cancel()

    def _start(self, status: int, fields: HeaderFields) -> None:
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields]
        self._put({"type": "http.response.start", "status": status, "headers": headers})

    def _send_body(self, data: bytes, *, more: bool) -> None:
        self._unsent += len(data)
        self._complete = not more
        self._put({"type": "http.response.body", "body": data, "more_body": more})

    def _put(self, message: Message) -> None:
        if self.is_open:
            self._queue.append(message)
            self._changed.set()

    async def _flush(self, send: Send) -> None:
        try:
            async with asyncio.timeout(None) as self._sending:
                await self._send_queued(send, self._sending)
        except (TimeoutError, OSError):  # the client does not read, or is gone
            self._sending = None
            self._disconnect()
        self._sending = None

    async def _send_queued(self, send: Send, limit: asyncio.Timeout) -> None:
        loop = asyncio.get_running_loop()
        while self._queue and self.is_open:
            message = self._queue.popleft()
            limit.reschedule(loop.time() + self._limits.write_seconds)
            await send(message)
            self._unsent -= len(message.get("body", b""))

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._disconnect()

    def _disconnect(self) -> None:
        self.is_open = False
        self._queue.clear()
        self._changed.set()
        if self._sending is not None and not self._sending.expired():
            self._sending.reschedule(0.0)  # now: the client will never read what `send` waits for


def read_head(scope: Message) -> RequestHead:
    """The head of a request. A mounted application serves the paths below its root path."""
    raw_path = scope.get("raw_path")
    path = scope["path"] if raw_path is None else raw_path.partition(b"?")[0].decode("latin-1")
    headers = Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
    return RequestHead(
        method=scope["method"],
        path=path.removeprefix(scope.get("root_path", "")),
        headers=headers,
        version="1.0" if scope.get("http_version") in ("1", "1.0") else "1.1",
    )


async def read_body(receive: Receive, max_body: int) -> bytes | None:
    """The body of a request; None if it is too large. Raises ConnectionError: the client went away."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > max_body:
            return None
    return bytes(body)
