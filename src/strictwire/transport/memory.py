"""A connection inside one process: the whole pipeline, no pipe and no socket. Tests drive servers through it.

`MemoryChannel` is what a client session uses, as over stdio. `MemoryConnection` sends requests of MCP 2026-07-28 and returns
raw results, for tests of the wire format.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue, parse_object, render
from strictwire.client.channel import NO_HEADERS, Callbacks
from strictwire.client.errors import ServerGone
from strictwire.client.message import Era, Identity, modern_params
from strictwire.client.message import request as make_request
from strictwire.client.router import MessageRouter
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Endpoint, Inbound, Outlet, Reply
from strictwire.transport.message_tasks import MessageTasks
from strictwire.wire.revisions import MODERN

VERSION: Final = MODERN

_RAISED: ContextVar[list[BaseException] | None] = ContextVar("strictwire_raised", default=None)
"""Collects what handlers raise during the request that runs in this context; None if the client does not want it."""


class CallFailed(Exception):
    """The server answered with a JSON-RPC error, which is kept whole."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(error.get("code"), error.get("message"))
        self.error = error


class MemoryOutlet:
    """Passes interim messages to a function."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take

    def open(self) -> None:
        """Always open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """Pass the message on."""
        if message:
            self._take(message)
        return True

    def close(self) -> None:
        """Nothing to close."""


async def ask_endpoint(endpoint: Endpoint, inbound: Inbound, outlet: Outlet) -> Reply:
    """Have one message answered and wait for the answer. A fault of ours is raised."""
    answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def deliver(reply: Reply | None) -> None:
        if not answered.done():
            answered.set_result(reply or Reply())

    await endpoint.serve(inbound, outlet, deliver)
    return await answered


def note_raised(exc: BaseException) -> None:
    """Keep what a handler raised for the client of its call, if that client wants it."""
    raised = _RAISED.get()
    if raised is not None:
        raised.append(exc)


class MemoryChannel:
    """A `client.channel.Channel` to an endpoint of this process. It works as over stdio: one connection, many requests."""

    def __init__(
        self,
        endpoint: Endpoint,
        caller: Caller,
        callbacks: Callbacks,
        *,
        raises: bool = False,
        on_close: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """With `raises`, a request whose handler raised an exception raises it, too. `on_close` runs at the end."""
        self._endpoint = endpoint
        self._caller = caller
        self._raises = raises
        self._on_close = on_close
        self._tasks = MessageTasks()
        self._router = MessageRouter(callbacks, self._write)
        self._outlet = MemoryOutlet(self._take_later)
        self._is_open = True

    @property
    def alive(self) -> bool:
        """Whether the channel is open."""
        return self._is_open

    def use_era(self, era: Era, version: str | None) -> None:
        """See Channel."""

    async def listen(self) -> None:
        """See Channel."""

    async def request(
        self,
        message: JsonObject,
        headers: Mapping[str, str] = NO_HEADERS,  # noqa: ARG002 - Channel's signature
    ) -> tuple[JsonObject, bytes]:
        """See Channel. Raises ServerGone, and with `raises` what the handler raised."""
        raised: list[BaseException] = []
        token = _RAISED.set(raised if self._raises else None)
        try:
            response = await self._router.request(message)
        finally:
            _RAISED.reset(token)
        if raised:
            raise raised[-1]
        return response

    async def notify(self, message: JsonObject) -> None:
        """See Channel. Raises ServerGone."""
        await self._write(message)

    async def close(self) -> None:
        """End the conversation, and everything that the endpoint has open."""
        self._is_open = False
        await self._router.close(ServerGone())
        self._endpoint.end_input()
        await asyncio.sleep(0)
        await self._tasks.cancel_all()
        await self._endpoint.close()
        if self._on_close is not None:
            on_close, self._on_close = self._on_close, None
            await on_close()

    async def _write(self, message: JsonObject) -> None:
        if not self._is_open:
            raise ServerGone
        inbound = Inbound(body=render(message), transport="memory", caller=self._caller)
        self._tasks.start(self._endpoint, inbound, self._outlet, self._deliver)

    def _deliver(self, reply: Reply | None) -> None:
        if reply is not None and reply.body is not None:
            self._take_later(reply.body)

    def _take_later(self, message: bytes) -> None:
        """Pass on a message in the next turn of the event loop, as over a pipe: the client never runs inside the server."""
        asyncio.get_running_loop().call_soon(partial(self._router.take, message))


class MemoryConnection:
    """Speaks MCP 2026-07-28 to one endpoint, with raw bytes and raw results."""

    def __init__(self, endpoint: Endpoint, caller: Caller, *, capabilities: Mapping[str, JsonValue]) -> None:
        self._endpoint = endpoint
        self._caller = caller
        self._identity = Identity(capabilities=capabilities)
        self._ids = itertools.count(1)
        self.notifications: list[JsonObject] = []
        """What the server sent besides answers, in order."""

    async def send(self, raw: bytes) -> bytes | None:
        """Raw bytes in, raw bytes out; None where there is no answer."""
        outlet = MemoryOutlet(lambda message: self.notifications.append(parse_object(message)))
        inbound = Inbound(body=raw, transport="memory", caller=self._caller)
        return (await ask_endpoint(self._endpoint, inbound, outlet)).body

    async def request(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The result of a method. Raises CallFailed: a JSON-RPC error."""
        body = make_request(next(self._ids), method, modern_params(params or {}, self._identity))
        answer = parse_object(await self.send(render(body)) or b"{}")
        if "error" in answer:
            raise CallFailed(answer["error"])
        result: JsonObject = answer["result"]
        return result

    async def call_tool(self, name: str, arguments: JsonObject | None = None, **params: Any) -> JsonObject:
        """The result of a tool, `isError` or not. Raises CallFailed: a JSON-RPC error."""
        return await self.request("tools/call", {"name": name, "arguments": arguments or {}, **params})

    async def close(self) -> None:
        """End what the endpoint has open."""
        self._endpoint.end_input()
        await asyncio.sleep(0)
        await self._endpoint.close()
