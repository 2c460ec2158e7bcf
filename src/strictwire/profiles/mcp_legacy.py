"""MCP 2024-11-05 to 2025-11-25: a session that opens with `initialize`, in which both sides may ask.

One session is one client, whatever carries it: a stdio process, or the HTTP requests that name its id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.pipeline.deadline import Deadline
from strictwire.profiles.exchange import Inbound, Outlet, Silent
from strictwire.profiles.listen import WANTS
from strictwire.profiles.listing import LISTS
from strictwire.profiles.mcp_context import LEVELS, Home, McpContext, check_capabilities
from strictwire.profiles.mcp_core import BEHIND, CALLS, Core, make_call, malformed, read_target
from strictwire.profiles.mcp_results import Written
from strictwire.profiles.streams import Streams
from strictwire.wire.envelope import (
    Notification,
    Request,
    RequestId,
    Response,
    is_request_id,
    render_notification,
    render_request,
    render_result,
)
from strictwire.wire.revisions import REVISIONS, Revision
from strictwire.wire.session import Cancellable, InFlight

ASK_SECONDS: Final = 600.0
"""How long a person or a model on the other side has to answer."""

MAX_SUBSCRIPTIONS: Final = 1000
"""Resources one session may watch."""

DEFAULT_LEVEL: Final = "info"
"""Log messages sent before the client sets a level."""

CLOSED: Final = b"}"
"""The end of every result: the legacy era stamps nothing on it."""


class LegacySession:
    """One session. `id` is None where the transport itself is the session (stdio)."""

    def __init__(
        self, core: Core, *, session_id: str | None, revision: Revision, client: JsonObject, principal: str
    ) -> None:
        self.id = session_id
        self.principal = principal
        """Who opened it; nobody else may use it."""
        self.revision = revision
        self.in_flight: InFlight[Cancellable] = InFlight()
        self.streams = Streams()
        self.closed = asyncio.Event()
        self.level = DEFAULT_LEVEL
        capabilities = client.get("capabilities")
        self.capabilities: Mapping[str, JsonValue] = capabilities if isinstance(capabilities, dict) else {}
        self._core = core
        self._home = Home.here()
        self._asked: InFlight[asyncio.Future[Response]] = InFlight()
        self._counter = 0
        self._watched: set[str] = set()
        self._outlet: Outlet = Silent()
        self._unwatch = core.pipeline.catalog.watch(self._tell)

    def attach(self, outlet: Outlet) -> None:
        """Where messages go that belong to no request: stdout, or an open GET stream."""
        self._outlet = outlet

    def detach(self, outlet: Outlet) -> None:
        """That stream is gone."""
        if self._outlet is outlet:
            self._outlet = Silent()

    def opening(self) -> bytes:
        """The result of `initialize`."""
        core = self._core
        result: JsonObject = {
            "protocolVersion": self.revision.name,
            "capabilities": core.capabilities(self.revision),
            "serverInfo": core.identity.as_json(),
        }
        if core.identity.instructions:
            result["instructions"] = core.identity.instructions
        return render(result)

    async def serve(self, request: Request, inbound: Inbound, outlet: Outlet) -> Written:
        """Answer one request of the session."""
        behind = BEHIND.get(request.method)
        if behind is not None and behind not in self._core.capabilities(self.revision):
            return await self._refuse(request, fail("METHOD_NOT_FOUND"), inbound)
        if request.method in CALLS:
            return await self._call(request, inbound, outlet)
        answer = _SIMPLE.get(request.method)
        if answer is None and request.method not in LISTS:
            return await self._refuse(request, fail("METHOD_NOT_FOUND"), inbound)
        result = self._list(request) if answer is None else answer(self, request.params or {})
        if isinstance(result, Failure):
            return await self._refuse(request, result, inbound)
        return Written(body=render_result(request.id, result))

    def hear(self, notification: Notification) -> None:
        """Take a notification of the client."""
        if notification.method == "notifications/cancelled":
            self.cancel((notification.params or {}).get("requestId"))

    def cancel(self, request_id: object) -> None:
        """Stop a running request; one that is not running is no error."""
        if isinstance(request_id, str | int) and not isinstance(request_id, bool):
            task = self.in_flight.pop(request_id, None)
            if task is not None:
                task.cancel()

    def take_answer(self, response: Response) -> bool:
        """Hand an answer of the client to whoever asked; False if nobody did."""
        waiting = self._asked.pop(response.id, None)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(response)
        return True

    async def ask(self, ask: Ask, outlet: Outlet) -> JsonObject:
        """Send a request to the client and wait for its answer. Raises Refused: it failed or cannot be reached."""
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

    def abandon_questions(self) -> None:
        """Nobody will answer any more: whoever waits is told at once."""
        for waiting in tuple(self._asked.values()):
            if not waiting.done():
                waiting.set_exception(Refused(fail("TOOL_FAILED", text="The client is gone")))

    def retire(self) -> None:
        """Another session takes its place: what was asked is still answered, nothing more is told."""
        self._unwatch()
        self.closed.set()
        self.abandon_questions()

    def close(self) -> None:
        """End the session: nothing runs on, nobody waits."""
        self._unwatch()
        self.closed.set()
        self.streams.close()
        for task in tuple(self.in_flight.values()):
            task.cancel()
        for waiting in tuple(self._asked.values()):
            waiting.cancel()

    def context(self, outlet: Outlet, inbound: Inbound, token: RequestId | None) -> LegacyContext:
        """What the handler of one call of the session is given."""
        return LegacyContext(
            outlet,
            inbound.caller,
            self._home,
            self.revision.name,
            inbound.transport,
            self.capabilities,
            token,
            self.level,
            put=self.ask,
        )

    async def _call(self, request: Request, inbound: Inbound, outlet: Outlet) -> Written:
        params = request.params or {}
        target = read_target(request.method, params)
        if isinstance(target, Failure):
            return await self._refuse(request, target, inbound)
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            return await self._refuse(request, malformed("_meta"), inbound)
        if meta.get("progressToken") is not None and not is_request_id(meta["progressToken"]):
            return await self._refuse(request, malformed("progressToken"), inbound)
        context = self.context(outlet, inbound, meta.get("progressToken"))
        call = make_call(
            target,
            caller=inbound.caller,
            inbound=inbound,
            method=request.method,
            revision=self.revision,
            context=context,
            capabilities=self.capabilities,
        )
        try:
            return await self._core.perform(request, call, revision=self.revision, tail=CLOSED)
        finally:
            context.end()

    async def _refuse(self, request: Request, failure: Failure, inbound: Inbound) -> Written:
        return await self._core.refuse(request, failure, inbound, self.revision)

    def _list(self, request: Request) -> bytes | Failure:
        cursor = (request.params or {}).get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            return malformed("cursor")
        page = self._core.lister.page(request.method, self._core.registry, self.revision, cursor)
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
        if not isinstance(uri, str):
            return malformed("uri")
        if len(self._watched) >= MAX_SUBSCRIPTIONS:
            return fail("OVERLOADED")
        self._watched.add(uri)
        return b"{}"

    def _unsubscribe(self, params: JsonObject) -> bytes | Failure:
        uri = params.get("uri")
        if not isinstance(uri, str):
            return malformed("uri")
        self._watched.discard(uri)
        return b"{}"

    def _tell(self, changed: str, uri: str | None) -> None:
        if uri is not None:
            if uri in self._watched:
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


class LegacyContext(McpContext, kw_only=True):
    """Questions are requests to the client, answered while the handler waits."""

    put: Callable[[Ask, Outlet], Awaitable[JsonObject]]
    """Puts one question."""

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Put the questions one after the other; the tool's own time stands still meanwhile."""
        check_capabilities(questions, self.capabilities)
        deadline = self.deadline = self.deadline or Deadline(self.seconds)
        deadline.pause()
        try:
            return {key: await self.put(question, self.outlet) for key, question in questions.items()}
        finally:
            deadline.resume()

    def close_stream(self) -> None:
        """Where the revision has streams that can be resumed, the client is told to come back."""
        if REVISIONS[self.revision].resumable:
            self.outlet.close()
