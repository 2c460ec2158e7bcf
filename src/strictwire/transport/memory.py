"""A connection inside one process: the whole pipeline, no pipe and no socket. Tests drive servers through it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue, parse_object, render
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Endpoint, Inbound, Outlet, Reply

VERSION: Final = "2026-07-28"


class CallFailed(Exception):
    """The server answered with a JSON-RPC error, which is kept whole."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(error.get("code"), error.get("message"))
        self.error = error


class MemoryOutlet:
    """Collects interim messages."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []

    def open(self) -> None:
        """Always open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """Keep the message."""
        if message:
            self.messages.append(parse_object(message))
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


class MemoryConnection:
    """Speaks MCP 2026-07-28 to one endpoint."""

    def __init__(self, endpoint: Endpoint, caller: Caller, *, capabilities: Mapping[str, JsonValue]) -> None:
        self._endpoint = endpoint
        self._caller = caller
        self._capabilities = dict(capabilities)
        self._ids = itertools.count(1)
        self.notifications: list[JsonObject] = []
        """What the server sent besides answers, in order."""

    async def send(self, raw: bytes) -> bytes | None:
        """Raw bytes in, raw bytes out; None where there is no answer."""
        outlet = MemoryOutlet()
        inbound = Inbound(body=raw, transport="memory", caller=self._caller)
        reply = await ask_endpoint(self._endpoint, inbound, outlet)
        self.notifications += outlet.messages
        return reply.body

    async def request(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The result of a method. Raises CallFailed: a JSON-RPC error."""
        meta: JsonObject = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": self._capabilities,
        }
        given = dict(params or {})
        given["_meta"] = meta | given.get("_meta", {})
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": given}
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
