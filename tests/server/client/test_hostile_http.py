"""Hostile servers over HTTP: endless streams, dripped and huge bodies, wrong ids, session ids and statuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from strictwire import Client, ToolResult
from strictwire.canon import json
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from tests.fixtures.scripted_http import answer, served, stream, write

Call = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
FINE = {"content": [{"type": "text", "text": "fine"}]}


def modern(call: Call) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A modern server that answers calls in its own way."""

    async def handle(request: web.Request) -> web.StreamResponse:
        message = await request.json()
        if message["method"] == "server/discover":
            return answer(message, {"supportedVersions": ["2026-07-28"], "capabilities": {}})
        return await call(request, message)

    return handle


async def endless(request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    response = await stream(request)
    while True:
        await write(response, {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}})


async def comments(request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    response = await stream(request)
    while True:
        await response.write(b": keep-alive\n\n")
        await asyncio.sleep(0.01)


async def drip(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for byte in json.render({"jsonrpc": "2.0", "id": message["id"], "result": FINE}):
        await response.write(bytes([byte]))
        await asyncio.sleep(0.1)
    return response


async def huge(_request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
    return answer(message, {**FINE, "x": "a" * (9 * 1024 * 1024)})


async def huge_event(request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    response = await stream(request)
    while True:
        await response.write(b"data: " + b"a" * 65536 + b"\n")


async def other_id(_request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
    return answer({"id": str(message["id"])}, FINE)


async def not_json(_request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    return web.Response(body=b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}', content_type="application/json")


async def denied(_request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    return web.Response(status=401, text="who?")


async def redirect(_request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    return web.Response(status=307, headers={"Location": "http://evil.example.com/mcp"})


async def hang_up(request: web.Request, _message: dict[str, Any]) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


CASES: list[tuple[Call, type[ClientError], str]] = [
    (endless, TimedOut, "TIMEOUT"),
    (comments, TimedOut, "TIMEOUT"),
    (drip, TimedOut, "TIMEOUT"),
    (huge, TooLarge, "CAP_EXCEEDED"),
    (huge_event, TooLarge, "CAP_EXCEEDED"),
    (other_id, NotUnderstood, "UPSTREAM_BROKE"),
    (not_json, NotUnderstood, "UPSTREAM_BROKE"),
    (denied, NotUnderstood, "UNAUTHENTICATED"),
    (redirect, NotUnderstood, "UPSTREAM_BROKE"),
    (hang_up, ServerGone, "UPSTREAM_GONE"),
]


@pytest.mark.parametrize(("call", "kind", "code"), CASES, ids=[case[0].__name__ for case in CASES])
def test_a_hostile_server_is_an_error_of_the_right_kind(call: Call, kind: type[ClientError], code: str) -> None:
    async def act(url: str) -> ClientError:
        async with Client(url) as client:
            with pytest.raises(ClientError) as caught:
                await client.call_tool("act", timeout=0.3 if kind is TimedOut else 20)
        return caught.value

    error = served(modern(call), act)

    assert (type(error), error.failure.code) == (kind, code)


class Legacy:
    """A legacy server with a GET stream, on which it sends what a test wants."""

    def __init__(self, session_id: str = "s1") -> None:
        self.session_id = session_id
        self.called: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "DELETE":
            return web.Response(status=204)
        if request.method == "GET":
            response = await stream(request)
            message = await self.called.get()
            await response.write(b"data: {malformed\n\n")
            await write(response, {"jsonrpc": "2.0", "id": 999, "result": {}})
            await write(response, {"jsonrpc": "2.0", "id": message["id"], "result": FINE})
            return response
        message = await request.json()
        match message.get("method"):
            case "initialize":
                opened = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "l", "version": "1"}}
                return answer(message, opened, **{"Mcp-Session-Id": self.session_id})
            case "tools/call":
                response = await stream(request)
                self.called.put_nowait(message)
                await asyncio.sleep(3600)
                return response
        return web.Response(status=202)


def test_the_response_may_come_on_the_other_stream() -> None:
    async def act(url: str) -> ToolResult:
        async with Client(url, era="legacy") as client:
            return await client.call_tool("act", timeout=20)

    assert served(Legacy().handle, act).text == "fine"


@pytest.mark.parametrize("session_id", ["x" * 2000, "é"])
def test_a_session_id_that_cannot_be_repeated_is_refused(session_id: str) -> None:
    async def act(url: str) -> None:
        with pytest.raises(NotUnderstood, match="the session id is too long or not ASCII"):
            async with Client(url, era="legacy"):
                pass

    served(Legacy(session_id).handle, act)


def test_an_error_status_with_an_empty_event_stream_is_named() -> None:
    async def fail(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=500, headers={"Content-Type": "text/event-stream"})

    async def act(url: str) -> str:
        with pytest.raises(NotUnderstood) as caught:
            async with Client(url) as client:
                await client.list_tools()
        return str(caught.value)

    assert "HTTP 500 without a JSON-RPC message; read the log of the server" in served(fail, act)
