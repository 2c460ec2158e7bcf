"""A fault of ours inside an endpoint: whoever asked is answered all the same, without a word about what happened."""

from __future__ import annotations

import asyncio
import os

import pytest

from strictwire import Server
from strictwire.canon.json import parse_object
from strictwire.pipeline.call import Caller
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet
from strictwire.profiles.mcp.endpoint import McpEndpoint
from strictwire.profiles.mcp.own import OwnBackend
from strictwire.server.compose import open_runtime
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.http.gatekeeper import Gatekeeper
from strictwire.transport.http.rules import Site
from strictwire.transport.http.server import HttpServer
from strictwire.transport.stdio import StdioServer
from tests.fixtures.live import modern, modern_headers, request


class Broken(McpEndpoint):
    """An endpoint with a bug."""

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:
        raise RuntimeError("hunter2")


INTERNAL = {"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "Internal error", "data": {"code": "INTERNAL"}}}


async def over_stdio(endpoint: Broken, batch: WriteBatch, body: bytes) -> bytes:
    given, source = os.pipe()
    sink, taken = os.pipe()
    os.write(source, body + b"\n")
    os.close(source)
    await StdioServer(endpoint, batch, caller=Caller(), max_line=10_000).run(given, taken)
    with os.fdopen(sink, "rb") as answers:
        return answers.read()


async def over_http(endpoint: Broken, batch: WriteBatch, body: bytes) -> bytes:
    server = HttpServer(Site(endpoints={"/mcp": endpoint}, gatekeeper=Gatekeeper(), max_body=10_000))
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(body, {**modern_headers(body), "Connection": "close"}, port=port))
    answer = await reader.read()
    writer.close()
    await server.stop()
    return answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("over", [over_stdio, over_http])
def test_a_fault_is_answered_with_the_id_of_its_request(over: object, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> bytes:
        async with (
            asyncio.timeout(10),
            open_runtime(Server("s", version="1"), Settings(), recorder=MemoryRecorder()) as runtime,
        ):
            endpoint = Broken(OwnBackend(runtime.core))
            return await over(endpoint, runtime.batch, modern(7, "tools/list"))  # type: ignore[operator,no-any-return]

    assert parse_object(asyncio.run(main()).strip()) == INTERNAL
    assert "hunter2" in caplog.text, "whoever runs the server can read what happened"
