"""MCP 2024-11-05 to 2025-11-25: a session that opens with `initialize`, in which both sides may send requests.

A session belongs to one client: over stdio the whole connection, over HTTP the requests that name its id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.pipeline.deadline import paused
from strictwire.profiles.endpoint import Outlet, Reply, Silent
from strictwire.profiles.mcp.answers import ask_until_accepted, check_capabilities
from strictwire.profiles.mcp.context import Home, McpContext, summarise_capabilities
from strictwire.profiles.mcp.core import Core
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.listen import WANTS
from strictwire.profiles.mcp.listing import LISTS
from strictwire.profiles.mcp.streams import Streams
from strictwire.profiles.mcp.targets import CALLS, malformed, read_progress_token, read_target
from strictwire.wire.envelope import (
    Notification,
    RequestId,
    Response,
    render_notification,
    render_request,
    render_result,
)
from strictwire.wire.names import LEVELS
from strictwire.wire.revisions import REVISIONS, Revision
from strictwire.wire.session import InFlight

ASK_SECONDS: Final = 600.0
"""How long the client has to answer a question: a person reads it and fills in a form, or a model runs."""

MAX_SUBSCRIPTIONS: Final = 1000
"""Resources that one session may subscribe to. With MAX_URI it bounds their memory to a few MB."""

MAX_URI: Final = 2048
"""Characters of a URI that a session may subscribe to; browsers and proxies accept about as many."""

DEFAULT_LEVEL: Final = "info"
"""Lowest level of log messages that are sent before the client sets one."""

CLOSED: Final = b"}"
"""The end of every result. The legacy era adds no members to it, unlike `modern`."""


class LegacySession:
    """One session with our own tools. `id` is None where the transport itself is the session (stdio)."""

    def __init__(self, core: Core, exchange: Exchange, *, session_id: str | None, revision: Revision) -> None:
        """`exchange` is the `initialize` that opens the session."""
        self.id = session_id
        self.principal = exchange.inbound.caller.principal
        self.revision = revision
        self.in_flight: InFlight[Exchange] = InFlight()
        self.streams = Streams()
        self.closed = asyncio.Event()
        self.level = DEFAULT_LEVEL
        self.capabilities = summarise_capabilities((exchange.request.params or {}).get("capabilities"))
        self.opening = render_result(exchange.request.id, _opening(core, revision))
        self._core = core
        self._home = Home.here()
        self._asked: InFlight[asyncio.Future[Response]] = InFlight()
        self._counter = 0
        self._subscribed: set[str] = set()
        self._outlet: Outlet = Silent()
        self._unwatch = core.catalog.watch(self._notify)

    def attach(self, outlet: Outlet) -> None:
        """Send messages that belong to no request here: stdout, or an open GET stream."""
        self._outlet = outlet

    def detach(self, outlet: Outlet) -> None:
        """See Session."""
        if self._outlet is outlet:
            self._outlet = Silent()

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request of the session."""
        method = exchange.request.method
        if not self._core.offers(method, self.revision):
            exchange.refuse(fail("METHOD_NOT_FOUND"))
        elif method in CALLS:
            await self._call(exchange)
        else:
            await self._answer_simple(exchange)

    async def _answer_simple(self, exchange: Exchange) -> None:
        request = exchange.request
        answer = _SIMPLE.get(request.method)
        if answer is not None:
            result = answer(self, request.params or {})
        elif request.method in LISTS:
            result = await self._list(exchange)
        else:
            result = fail("METHOD_NOT_FOUND")
        if isinstance(result, Failure):
            exchange.refuse(result)
        else:
            exchange.answer(Reply(body=render_result(request.id, result)))

    def take_notification(self, notification: Notification, raw: bytes) -> None:
        """See Session. Does nothing: the endpoint handles cancellations, and no other notification changes the session."""

    def take_answer(self, response: Response, raw: bytes) -> bool:  # noqa: ARG002 - the seam's signature
        """See Session. Resolves the `ask` that waits for this response."""
        waiting = self._asked.pop(response.id, None)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(response)
        return True

    async def ask(self, ask: Ask, outlet: Outlet) -> JsonObject:
        """Send a request to the client and wait for its answer. Raises Refused after an error or a timeout."""
        self._counter += 1
        request_id: RequestId = f"strictwire-{self._counter}"
        waiting: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._asked.add(request_id, waiting)
        try:
            outlet.send(render_request(request_id, ask.method, ask.params))
            async with asyncio.timeout(ASK_SECONDS):
                response = await waiting
        except TimeoutError:
            raise Refused(fail("TIMEOUT", details={"timeoutMs": int(ASK_SECONDS * 1000)})) from None
        finally:
            self._asked.pop(request_id, None)
        if response.error is not None or not isinstance(response.result, dict):
            raise Refused(fail("TOOL_FAILED", text="The client refused the question"))
        return response.result

    def end_input(self) -> None:
        """The client is gone: handlers that wait for an answer fail at once."""
        for waiting in tuple(self._asked.values()):
            if not waiting.done():
                waiting.set_exception(Refused(fail("TOOL_FAILED", text="The client is gone")))

    def retire(self) -> None:
        """Another session takes its place: running requests are still answered, nothing else is sent."""
        self._unwatch()
        self.closed.set()
        self.end_input()

    async def close(self) -> None:
        """End the session: cancel its requests and its questions to the client."""
        self._unwatch()
        self.closed.set()
        self.streams.close()
        for exchange in tuple(self.in_flight.values()):
            exchange.cancel()
        for waiting in tuple(self._asked.values()):
            waiting.cancel()

    async def _call(self, exchange: Exchange) -> None:
        request = exchange.request
        params = request.params or {}
        target = read_target(request.method, params)
        token = read_progress_token(params) if "_meta" in params else None
        if isinstance(target, Failure):
            exchange.refuse(target)
            return
        if isinstance(token, Failure):
            exchange.refuse(token)
            return
        context = LegacyContext(
            exchange.outlet,
            exchange.inbound.caller,
            self._home,
            self.revision.name,
            exchange.inbound.transport,
            self.capabilities,
            token,
            self.level,
            put=self.ask,
        )
        try:
            await self._core.perform(exchange, target, context, capabilities=self.capabilities, tail=CLOSED)
        finally:
            context.end()

    async def _list(self, exchange: Exchange) -> bytes | Failure:
        cursor = (exchange.request.params or {}).get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            return malformed("cursor")
        page = await self._core.page(exchange, self.revision, cursor)
        if isinstance(page, Failure):
            return page
        entries, following = page
        more = b"" if following is None else b',"nextCursor":' + render(following)
        return b"{" + entries + more + b"}"

    def _ping(self, _params: JsonObject) -> bytes | Failure:
        return b"{}"

    def _set_level(self, params: JsonObject) -> bytes | Failure:
        level = params.get("level")
        if not isinstance(level, str) or level not in LEVELS:
            return malformed("level")
        self.level = level
        return b"{}"

    def _subscribe(self, params: JsonObject) -> bytes | Failure:
        uri = params.get("uri")
        if not isinstance(uri, str) or len(uri) > MAX_URI:
            return malformed("uri")
        if len(self._subscribed) >= MAX_SUBSCRIPTIONS:
            return fail("OVERLOADED")
        self._subscribed.add(uri)
        return b"{}"

    def _unsubscribe(self, params: JsonObject) -> bytes | Failure:
        uri = params.get("uri")
        if not isinstance(uri, str):
            return malformed("uri")
        self._subscribed.discard(uri)
        return b"{}"

    def _notify(self, changed: str, uri: str | None) -> None:
        if uri is not None:
            if uri in self._subscribed:
                self._outlet.send(render_notification("notifications/resources/updated", {"uri": uri}))
        elif changed in WANTS:
            self._outlet.send(render_notification(f"notifications/{changed}/list_changed", {}))


_SIMPLE: Final[Mapping[str, Callable[[LegacySession, JsonObject], bytes | Failure]]] = {
    "ping": LegacySession._ping,  # noqa: SLF001 - a table of the class's own methods
    "logging/setLevel": LegacySession._set_level,  # noqa: SLF001
    "resources/subscribe": LegacySession._subscribe,  # noqa: SLF001
    "resources/unsubscribe": LegacySession._unsubscribe,  # noqa: SLF001
}
"""Methods that are answered from the session alone."""


def _opening(core: Core, revision: Revision) -> bytes:
    """The result of `initialize`."""
    result: JsonObject = {
        "protocolVersion": revision.name,
        "capabilities": core.capabilities(revision),
        "serverInfo": core.identity.as_json(),
    }
    if core.identity.instructions:
        result["instructions"] = core.identity.instructions
    return render(result)


class LegacyContext(McpContext, kw_only=True):
    """Questions are requests to the client, answered while the handler waits."""

    put: Callable[[Ask, Outlet], Awaitable[JsonObject]]
    """Sends one question and waits for its answer."""

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Send the questions one after the other. The time limit of the tool is paused meanwhile.

        Raises Refused(ANSWER_INVALID): the client repeats an answer that is not accepted.
        """
        check_capabilities(questions, self.capabilities)
        with paused(self.deadline):
            return {key: await ask_until_accepted(self._put, question) for key, question in questions.items()}

    async def _put(self, question: Ask) -> JsonObject:
        return await self.put(question, self.outlet)

    def close_stream(self) -> None:
        """Where the revision has streams that can be resumed, the client reconnects for the rest."""
        if REVISIONS[self.revision].resumable:
            self.outlet.close()
