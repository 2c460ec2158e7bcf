"""A conversation with an MCP endpoint in memory: the answers and the records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from strictwire import Server
from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers, Inbound, Reply, Silent
from strictwire.server.compose import open_runtime
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import ask_endpoint

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


def converse(
    messages: Iterable[bytes],
    *,
    make_server: Callable[[], Server],
    role: str | None = None,
    headers: Headers | None = None,
    failure: str | None = None,
    keeps_values: bool = False,
) -> tuple[list[Reply], list[JsonObject]]:
    """Send messages one after the other. `failure` is what the recorder refuses records with, once a session is open."""

    async def main() -> tuple[list[Reply], list[JsonObject]]:
        recorder = MemoryRecorder(keeps_values=keeps_values)
        async with (
            asyncio.timeout(20),
            open_runtime(make_server(), Settings(), deterministic=True, recorder=recorder) as runtime,
        ):
            endpoint = runtime.endpoint("mcp")
            replies = []
            for message in messages:
                recorder.failure = None if failure is None or b"initialize" in message else fail(failure)
                inbound = Inbound(body=message, transport="stdio", caller=Caller(role=role), headers=headers)
                replies.append(await ask_endpoint(endpoint, inbound, Silent()))
            await endpoint.close()
            return replies, recorder.records

    return asyncio.run(main())
