"""Subscriptions in both eras: what is reported, what is refused, and what happens when the connection breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import pytest
from aiohttp import web

from strictwire import Change, Client, Http, Server
from strictwire.client.errors import RequestFailed, ServerGone, TimedOut
from strictwire.server.client import changes as module
from tests.fixtures.scripted_http import answer, served, stream, write

T = TypeVar("T")
Era = Literal["modern", "legacy"]
eras = pytest.mark.parametrize("era", ["modern", "legacy"])


def made() -> Server:
    server = Server("s", version="1")

    @server.tool(safety="read-only")
    def one() -> str:
        """One."""
        return "1"

    @server.resource("notes://{number}")
    def note(number: int) -> str:
        """A note."""
        return str(number)

    return server


def use(server: Server, act: Callable[[Client], Awaitable[T]], era: Era) -> T:
    async def main() -> T:
        async with asyncio.timeout(20), Client(server, era=era) as client:
            return await act(client)

    return asyncio.run(main())


def two() -> str:
    """Two."""
    return "2"


@eras
def test_lists_and_resources_are_reported_once_until_they_are_read(era: Era) -> None:
    server = made()

    async def act(client: Client) -> list[Change]:
        async with client.listen(tools=True, uris=["notes://1"]) as changes:
            server.tool(safety="read-only")(two)
            server.remove_tool("two")
            for uri in ("notes://1", "notes://2", "notes://1"):
                server.resource_changed(uri)
            found = [await anext(changes), await anext(changes)]
            server.resource_changed("notes://1")
            return [*found, await anext(changes)]

    note = Change(kind="resource", uri="notes://1")
    assert use(server, act, era) == [Change(kind="tools"), note, note]


def test_something_must_be_named() -> None:
    async def act(client: Client) -> None:
        with pytest.raises(ValueError, match="name what to listen for"):
            async with client.listen():
                pass

    use(made(), act, "modern")


class Modern:
    """A modern server whose subscriptions behave as told: `break` the stream, `refuse`, `ignore`, or `end`."""

    def __init__(self, *behaviour: str) -> None:
        self.behaviour = list(behaviour)
        self.listens = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        message: dict[str, Any] = await request.json()
        if message["method"] == "server/discover":
            return answer(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        self.listens += 1
        act = self.behaviour.pop(0)
        if act == "refuse":
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
            return web.json_response(error, status=404)
        response = await stream(request)
        if act != "ignore":
            await self.notify(response, message, "subscriptions/acknowledged", notifications={})
        if act == "ignore":
            await asyncio.sleep(3600)
        if act == "end":
            await write(response, {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}})
        return response

    async def notify(self, response: web.StreamResponse, request: dict[str, Any], name: str, **params: Any) -> None:
        params["_meta"] = {"io.modelcontextprotocol/subscriptionId": request["id"]}
        await write(response, {"jsonrpc": "2.0", "method": f"notifications/{name}", "params": params})


def listened(server: Modern, *, restart: bool = True, seconds: float = 20) -> list[Change]:
    """The changes until the end of the subscription."""

    async def act(url: str) -> list[Change]:
        async with Client(Http(url, restart=restart), timeout=seconds) as client, client.listen(tools=True) as changes:
            return [each async for each in changes]

    return served(server.handle, act)


def test_the_server_may_end_a_subscription() -> None:
    assert listened(Modern("end")) == []


def test_a_refused_subscription_is_an_error() -> None:
    with pytest.raises(RequestFailed) as caught:
        listened(Modern("refuse"))

    assert caught.value.failure.code == "METHOD_NOT_FOUND"


def test_a_subscription_that_is_not_confirmed_times_out() -> None:
    with pytest.raises(TimedOut, match="subscriptions/listen"):
        listened(Modern("ignore"), seconds=0.1)


def test_a_subscription_that_breaks_off_is_opened_again_and_reports_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", (0.01, 0.01))
    server = Modern("break", "break", "end")

    # Each reopening reports it; one that is not read yet is not reported again.
    assert set(listened(server)) == {Change(kind="tools")}
    assert server.listens == 3


def test_without_restart_a_subscription_that_breaks_off_is_an_error() -> None:
    with pytest.raises(ServerGone):
        listened(Modern("break"), restart=False)


def test_a_legacy_subscription_ends_with_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.01)

    class Legacy:
        """Offers the GET stream once, and has forgotten the session afterwards."""

        def __init__(self) -> None:
            self.streams = 0

        async def handle(self, request: web.Request) -> web.StreamResponse:
            if request.method == "GET":
                self.streams += 1
                return await stream(request) if self.streams == 1 else web.Response(status=404)
            message = await request.json() if request.method == "POST" else {}
            if message.get("method") != "initialize":
                return web.Response(status=202)
            opened = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "l"}}
            return answer(message, opened, **{"Mcp-Session-Id": "s1"})

    async def act(url: str) -> None:
        async with Client(url, era="legacy") as client, client.listen(tools=True) as changes:
            with pytest.raises(ServerGone):
                await anext(changes)

    served(Legacy().handle, act)
