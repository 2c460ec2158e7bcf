"""A conversation with an endpoint by the short way of a call or by the long one, for tests that compare them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from strictwire import Server
from strictwire.audit.event import Values
from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.exchange import Headers, Inbound, Reply, Silent
from strictwire.profiles.mcp import McpEndpoint
from strictwire.server.compose import open_runtime
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
OPENING = {
    "jsonrpc": "2.0",
    "id": "open",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}


def call(name: object, arguments: object, *, meta: JsonObject | None = None, request_id: object = 1) -> bytes:
    params: JsonObject = {"name": name, "arguments": arguments}
    if meta is not None:
        params["_meta"] = meta
    return render({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})


async def by_serving(endpoint: McpEndpoint, inbound: Inbound) -> Reply:
    return await endpoint.serve(inbound, Silent())


async def by_answering(endpoint: McpEndpoint, inbound: Inbound) -> Reply:
    delivered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    rest = endpoint.answer(inbound, Silent(), delivered.set_result)
    if rest is not None:
        await rest
    return await delivered


def converse(
    way: Callable[[McpEndpoint, Inbound], Any],
    messages: Iterable[bytes],
    *,
    make_server: Callable[[], Server],
    role: str | None = None,
    headers: Headers | None = None,
    failure: str | None = None,
    values: Values = Values.DIGESTED,
) -> tuple[list[Reply], list[bytes]]:
    """The answers and the records of a conversation."""

    async def main() -> tuple[list[Reply], list[bytes]]:
        recorder = MemoryRecorder(values)
        async with (
            asyncio.timeout(20),
            open_runtime(make_server(), Settings(), deterministic=True, recorder=recorder) as runtime,
        ):
            endpoint = McpEndpoint(runtime.core)
            replies = []
            for message in messages:
                recorder.failure = None if failure is None or b"initialize" in message else fail(failure)
                inbound = Inbound(body=message, transport="stdio", caller=Caller(role=role), headers=headers)
                replies.append(await way(endpoint, inbound))
            await endpoint.close()
            return replies, recorder.lines

    return asyncio.run(main())
