"""Sessions that end: what is repeated and what is not, and what is resumed, over HTTP and stdio."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from strictwire import Client, Http, Stdio
from strictwire.client.errors import ClientError, ServerGone, SessionExpired, TimedOut
from tests.fixtures.scripted_http import answer, served, stream, write

HOSTILE = Path(__file__).parents[2] / "client" / "servers" / "hostile.py"
TOOLS = [
    {"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "put", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": False, "idempotentHint": True}},
    {"name": "pay", "inputSchema": {"type": "object"}},
]
FINE = {"content": [{"type": "text", "text": "fine"}]}


class Legacy:
    """A legacy server that forgets its sessions when it is told to."""

    def __init__(self) -> None:
        self.sessions = 0
        self.forgotten: set[str] = set()
        self.calls: list[tuple[str, str | None]] = []
        self.authorizations: set[str | None] = set()
        self.held = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        session = request.headers.get("Mcp-Session-Id")
        self.authorizations.add(request.headers.get("Authorization"))
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        if session in self.forgotten:
            return web.Response(status=404)
        match message.get("method"):
            case "server/discover":
                return web.Response(status=400)
            case "initialize":
                self.sessions += 1
                opened = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "l"}}
                return answer(message, opened, **{"Mcp-Session-Id": f"s{self.sessions}"})
            case "tools/list":
                return answer(message, {"tools": TOOLS})
            case "tools/call":
                self.calls.append((message["params"]["name"], session))
                return await self.call(request, message)
            case method:
                self.calls.append((str(method), session))
                return web.Response(status=202)

    async def call(self, _request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if message["params"]["name"] == "hold":
            self.held.set()
            await asyncio.sleep(3600)
        return answer(message, FINE)


@pytest.mark.parametrize("tool", ["read", "put"])
def test_a_repeatable_call_gets_a_new_session(tool: str) -> None:
    server = Legacy()

    async def act(url: str) -> str:
        async with Client(url) as client:
            await client.list_tools()
            server.forgotten.add("s1")
            return (await client.call_tool(tool)).text

    assert served(server.handle, act) == "fine"
    assert [call for call in server.calls if call[0] == tool] == [(tool, "s2")]


def test_a_call_that_may_change_something_is_not_repeated_but_the_next_one_works() -> None:
    server = Legacy()

    async def act(url: str) -> str:
        async with Client(url) as client:
            await client.list_tools()
            server.forgotten.add("s1")
            with pytest.raises(SessionExpired) as caught:
                await client.call_tool("pay")
            assert caught.value.failure.retryable
            return (await client.call_tool("pay")).text

    assert served(server.handle, act) == "fine"
    assert [call for call in server.calls if call[0] == "pay"] == [("pay", "s2")]


def test_a_list_gets_a_new_session() -> None:
    server = Legacy()

    async def act(url: str) -> int:
        async with Client(url) as client:
            server.forgotten.add("s1")
            return len(await client.list_tools())

    assert (served(server.handle, act), server.sessions) == (3, 2)


def test_without_restart_nothing_is_opened_again() -> None:
    server = Legacy()

    async def act(url: str) -> None:
        async with Client(Http(url, restart=False)) as client:
            server.forgotten.add("s1")
            for _ in range(2):
                with pytest.raises(SessionExpired):
                    await client.list_tools()

    served(server.handle, act)
    assert server.sessions == 1


def test_cancelling_a_legacy_call_notifies_the_server() -> None:
    server = Legacy()

    async def act(url: str) -> None:
        async with Client(url) as client:
            call = asyncio.create_task(client.call_tool("hold"))
            await server.held.wait()
            call.cancel()
            while ("notifications/cancelled", "s1") not in server.calls:
                await asyncio.sleep(0.005)
            assert call.cancelled()

    served(server.handle, act)


def test_a_call_that_times_out_is_cancelled_at_the_server() -> None:
    server = Legacy()

    async def act(url: str) -> None:
        async with Client(url) as client:
            with pytest.raises(TimedOut, match=r"no answer within 0\.2 s: tools/call"):
                await client.call_tool("hold", timeout=0.2)
            while ("notifications/cancelled", "s1") not in server.calls:
                await asyncio.sleep(0.005)

    served(server.handle, act)


def test_the_token_goes_to_the_server_and_into_no_message() -> None:
    server = Legacy()
    target: list[Http] = []

    async def act(url: str) -> None:
        target.append(Http(url, token="s3cret-token", headers={"X-Key": "k3y"}))
        async with Client(target[0]) as client:
            await client.list_tools()

    served(server.handle, act)

    assert server.authorizations == {"Bearer s3cret-token"}
    assert "s3cret" not in repr(target)
    assert "k3y" not in repr(target)


def test_a_url_with_secrets_is_shown_without_them() -> None:
    async def main() -> str:
        with pytest.raises(ClientError) as caught:
            async with Client(Http("http://me:hunter2@127.0.0.1:1/mcp?key=hunter3")):
                pass
        return str(caught.value)

    assert asyncio.run(main()).startswith("cannot reach http://127.0.0.1:1/mcp: ")


class Resumable(Legacy):
    """A server that breaks off the stream of each call, and goes on with it after a GET with Last-Event-ID."""

    def __init__(self) -> None:
        super().__init__()
        self.positions: list[str | None] = []
        self.waiting: dict[str, Any] = {}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET" or "Last-Event-ID" not in request.headers:
            return await super().handle(request)
        self.positions.append(request.headers["Last-Event-ID"])
        response = await stream(request)
        if len(self.positions) == 1:
            progress = {"progressToken": self.waiting["params"]["_meta"]["progressToken"], "progress": 1}
            await write(response, {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}, "e2")
        else:
            await write(response, {"jsonrpc": "2.0", "id": self.waiting["id"], "result": FINE}, "e3")
        return response

    async def call(self, request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        self.waiting = message
        response = await stream(request)
        await response.write(b"id: e1\nretry: 10\ndata:\n\n")
        return response


def test_a_stream_that_breaks_off_is_resumed_and_the_call_is_sent_once() -> None:
    server, progress = Resumable(), list[float]()

    async def act(url: str) -> str:
        async with Client(url) as client:
            return (await client.call_tool("pay", on_progress=lambda each: progress.append(each.progress))).text

    assert served(server.handle, act) == "fine"
    assert (server.positions, progress) == (["e1", "e2"], [1])
    assert [call for call in server.calls if call[0] == "pay"] == [("pay", "s1")]


def test_a_process_that_ended_is_started_again_only_if_that_is_allowed() -> None:
    async def use(restart: bool) -> list[object]:
        found: list[object] = []
        async with asyncio.timeout(30), Client(Stdio([sys.executable, str(HOSTILE), "exits"], restart=restart)) as client:
            with pytest.raises(ServerGone):
                await client.call_tool("act")
            try:
                found.append(len(await client.list_tools()))
            except ServerGone as exc:
                found.append(exc.exit_code)
        return found

    assert asyncio.run(use(restart=True)) == [1]
    assert asyncio.run(use(restart=False)) == [7]


def test_a_client_is_used_only_while_it_is_open() -> None:
    server = Legacy()

    async def act(url: str) -> None:
        client = Client(url)
        with pytest.raises(RuntimeError, match="not connected"):
            _ = client.server
        with pytest.raises(RuntimeError, match="not connected; use `async with Client"):
            await client.list_tools()
        assert server.sessions == 0
        async with client:
            pass
        with pytest.raises(ServerGone, match="the client is closed; use it inside `async with Client"):
            await client.list_tools()
        with pytest.raises(RuntimeError, match="connects only once; make a new Client"):
            async with client:
                pass

    served(server.handle, act)
