"""An answer to a cancelled request is dropped, on both transports and in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.options import RelayOptions
from tests.fixtures import fake_upstream
from tests.fixtures.live import legacy, modern
from tests.gateway.driver import Client, fake, guarded
from tests.gateway.links.test_http_link import OPENED, answer

CANCELLED = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}'
ERAS = pytest.mark.parametrize("era", ["modern", "legacy"])


@asynccontextmanager
async def late_web(called: asyncio.Event, told: list[str]) -> AsyncIterator[str]:
    """A server that answers a call when it is cancelled, as if nothing had happened."""
    withdrawn = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        message = parse_object(body) if body else {}
        if message.get("method") == "notifications/cancelled":
            told.append(message["params"]["reason"])
            withdrawn.set()
        if message.get("method") == "tools/call":
            called.set()
            # In the stateless era the end of the connection is the cancellation.
            ended = asyncio.ensure_future(reader.read())
            await asyncio.wait({ended, asyncio.ensure_future(withdrawn.wait())}, return_when=asyncio.FIRST_COMPLETED)
            told.append("ended" if ended.done() else "told")
        writer.write(_reply(head, message))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        withdrawn.set()
        server.close()


def _reply(head: str, message: dict[str, object]) -> bytes:
    results = {
        "server/discover": fake_upstream.OPENINGS["server/discover"],
        "initialize": OPENED,
        "tools/list": {"tools": [fake_upstream.TOOL]},
    }
    if not head.startswith("POST"):
        return answer(b"", "405 Method Not Allowed")
    if "id" not in message:
        return answer(b"", "202 Accepted")
    result = results.get(str(message["method"]), fake_upstream.GOOD)
    return answer(render({"jsonrpc": "2.0", "id": message["id"], "result": result}))  # type: ignore[dict-item]


async def cancel(client: Client, era: str, is_running: asyncio.Event) -> list[object]:
    """Whether the call was cancelled, whether the guard still answers, and what came after the cancellation."""
    if era == "legacy":
        await client.open_session()
    running = asyncio.create_task(client.act(era, 1, progressToken="t"))
    async with asyncio.timeout(20):
        await is_running.wait()
        client.heard.messages.clear()
        await client.send(CANCELLED)
        await asyncio.wait({running})
        raw = modern(2, "tools/list") if era == "modern" else legacy(2, "tools/list")
        return [running.cancelled(), (await client.ask(raw))["id"], client.heard.messages]


@ERAS
def test_a_late_answer_of_a_process_is_dropped(era: str) -> None:
    async def run() -> list[object]:
        async with guarded(fake("answer_after_cancel"), RelayOptions()) as client:
            return await cancel(client, era, client.heard.arrived)

    assert asyncio.run(run()) == [True, 2, []]


@ERAS
def test_a_late_answer_over_http_is_dropped(era: str) -> None:
    async def run() -> tuple[list[object], list[str]]:
        called, told = asyncio.Event(), list[str]()
        async with late_web(called, told) as url, guarded(UpstreamTarget(url=url), RelayOptions()) as client:
            return await cancel(client, era, called), told

    seen, told = asyncio.run(run())

    assert seen == [True, 2, []]
    assert ("enough" in told) == (era == "legacy")
