"""HTTP for sessions with a scripted server: headers, redirects, limits, and a legacy session."""

from __future__ import annotations

import asyncio
import time

import pytest
from aiohttp import web
from tests.fixtures.scripted_http import served

from strictwire.canon import json
from strictwire.client import CannotReach, Era, NotUnderstood, RemoteError, Result, ServerGone, TimedOut, TooLarge, open_http
from strictwire.client.http import HttpClient
from strictwire.client.session import SessionOptions
from strictwire.client.streamable import MIN_LISTEN_SECONDS


def test_only_the_given_headers_are_sent() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({name.lower(): value for name, value in request.headers.items()})

    async def act(url: str) -> object:
        client = HttpClient()
        try:
            answer = await client.send("POST", url, headers={"A": "1"}, body=b"x")
        finally:
            await client.close()
        return sorted(json.parse_object(answer.body))

    assert served(handler, act) == ["a", "content-length", "host"]


def test_a_redirect_is_not_followed() -> None:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "http://evil.example.com/"})

    async def act(url: str) -> int:
        client = HttpClient()
        try:
            return (await client.send("POST", url, headers={}, body=b"x")).status
        finally:
            await client.close()

    assert served(handler, act) == 307


def test_a_body_larger_than_the_limit_is_refused() -> None:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(body=b"x" * 5000)

    async def act(url: str) -> None:
        client = HttpClient(max_body=1000)
        try:
            with pytest.raises(TooLarge):
                await client.send("GET", url, headers={})
        finally:
            await client.close()

    served(handler, act)


ANSWER_TO_PING = ("POST", "", "s1")


class Legacy:
    """A legacy server. It answers `work` with an event stream that contains a ping to the client."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str | None]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        session = request.headers.get("Mcp-Session-Id")
        message = await request.json() if request.method == "POST" else {}
        self.seen.append((request.method, message.get("method", ""), session))
        match message.get("method"):
            case "initialize":
                result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "l"}}
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                return web.json_response(answer, headers={"Mcp-Session-Id": "s1"})
            case "work":
                return await self._stream(request, message["id"])
            case None | "notifications/initialized":
                return web.Response(status=202)
            case "hangup":
                return web.Response(status=200, content_type="text/event-stream")
            case "accepted":
                return web.Response(status=202)
            case "slow":
                await asyncio.sleep(2)
        return web.Response(status=400, text="no")

    async def _stream(self, request: web.Request, request_id: object) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}},
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "id": str(request_id), "result": {"wrong": True}},
            {"jsonrpc": "2.0", "id": request_id, "result": {"right": True}},
        ):
            await stream.write(b"data: " + json.render(message) + b"\n\n")
        return stream


def test_a_legacy_session_over_http() -> None:
    server = Legacy()

    async def act(url: str) -> tuple[object, object, Era]:
        async with await open_http(url, SessionOptions(detect_seconds=5)) as session:
            reply = await session.request("work")
            refused: object = None
            try:
                await session.request("no/such/method")
            except NotUnderstood as exc:
                refused = exc.status
            while ANSWER_TO_PING not in server.seen:  # sent beside other requests, so in any order with them
                await asyncio.sleep(0.01)
            return reply, refused, session.era

    reply, refused, era = served(server.handle, act)

    assert isinstance(reply, Result)
    assert (reply.value, refused, era) == ({"right": True}, 400, Era.LEGACY)
    server.seen.remove(ANSWER_TO_PING)
    assert server.seen == [
        ("POST", "server/discover", None),
        ("POST", "initialize", None),
        ("POST", "notifications/initialized", "s1"),
        ("POST", "work", "s1"),
        ("POST", "no/such/method", "s1"),
        ("DELETE", "", "s1"),
    ]


@pytest.mark.parametrize(("method", "error"), [("hangup", ServerGone), ("accepted", NotUnderstood), ("slow", TimedOut)])
def test_a_request_without_a_response_fails(method: str, error: type[Exception]) -> None:
    async def act(url: str) -> None:
        async with await open_http(url) as session:
            with pytest.raises(error):
                await session.request(method, seconds=0.5)

    served(Legacy().handle, act)


def test_an_error_without_an_id_is_the_response_to_its_post() -> None:
    async def handler(request: web.Request) -> web.Response:
        message = await request.json()
        if message["method"] == "server/discover":
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return web.json_response({"jsonrpc": "2.0", "error": {"code": -32700, "message": "m"}}, status=400)

    async def act(url: str) -> object:
        async with await open_http(url) as session:
            return await session.request("any")

    reply = served(handler, act)

    assert isinstance(reply, RemoteError)
    assert (reply.code, reply.message) == (-32700, "m")


def test_credentials_in_the_url_and_in_a_header_are_refused_without_showing_them() -> None:
    async def act() -> None:
        options = SessionOptions(headers={"Authorization": "Bearer of-a-secret"})
        with pytest.raises(CannotReach) as caught:
            await open_http("http://ann:password@127.0.0.1:9/mcp", options)
        assert "not both" in str(caught.value)
        assert "password" not in str(caught.value) + repr(caught.value.__cause__)

    asyncio.run(act())


def test_a_session_stream_that_ends_at_once_is_not_opened_again_without_a_pause() -> None:
    opened: list[float] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            opened.append(time.monotonic())
            return web.Response(body=b"retry: 0\ndata:\n\n", content_type="text/event-stream")
        return await Legacy().handle(request)

    async def act(url: str) -> None:
        async with await open_http(url, SessionOptions(listens=True, era=Era.LEGACY)):
            async with asyncio.timeout(60):
                while len(opened) < 4:
                    await asyncio.sleep(0.01)

    served(handler, act)

    assert opened[3] - opened[1] >= 2 * MIN_LISTEN_SECONDS
