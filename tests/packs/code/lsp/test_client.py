"""Requests, replies and everything a server may send."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strictwire.canon.json import JsonObject, JsonValue, parse_object
from strictwire.packs.code.lsp import client as client_module
from strictwire.packs.code.lsp.client import Broken, Client, RequestRefused
from strictwire.packs.code.lsp.framing import FrameReader, frame


class Server:
    """The other end, in memory."""

    def __init__(self) -> None:
        self.client = Client(self._take, self, {"ask/known": lambda params: {"got": params.get("x")}})
        self.sent: list[JsonObject] = []
        self.heard: list[tuple[str, JsonObject]] = []
        self._reader = FrameReader()

    def _take(self, data: bytes) -> None:
        self.sent += [parse_object(body) for body in self._reader.feed(data)]

    def on_notification(self, method: str, params: JsonObject) -> None:
        self.heard.append((method, params))

    def say(self, **message: Any) -> None:
        self.client.receive(frame({"jsonrpc": "2.0", **message}))


async def ask(server: Server, method: str = "m") -> asyncio.Task[JsonValue]:
    task = asyncio.create_task(server.client.request(method, {"p": 1}))
    await asyncio.sleep(0)
    return task


def test_replies_find_their_requests_in_any_order() -> None:
    async def scenario() -> tuple[JsonValue, JsonValue, list[JsonObject]]:
        server = Server()
        one, two = await ask(server, "one"), await ask(server, "two")
        server.say(id=2, result="second")
        server.say(id=1, result=None)
        return await one, await two, server.sent

    assert asyncio.run(scenario()) == (
        None,
        "second",
        [
            {"jsonrpc": "2.0", "id": 1, "method": "one", "params": {"p": 1}},
            {"jsonrpc": "2.0", "id": 2, "method": "two", "params": {"p": 1}},
        ],
    )


def test_an_error_keeps_its_code_and_not_its_text() -> None:
    async def scenario() -> str:
        server = Server()
        task = await ask(server)
        server.say(id=1, error={"code": -32801, "message": "/secret/path"})
        with pytest.raises(RequestRefused) as caught:
            await task
        return f"{caught.value!r} {caught.value.code}"

    assert asyncio.run(scenario()) == "RequestRefused(-32801) -32801"


def test_questions_of_the_server_are_answered_or_declined() -> None:
    server = Server()
    server.say(id="a", method="ask/known", params={"x": 5})
    server.say(id=7, method="ask/unknown")
    server.say(method="note", params={"y": 6})
    server.say(method="odd", params=[1])

    assert server.sent == [
        {"jsonrpc": "2.0", "id": "a", "result": {"got": 5}},
        {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "not offered"}},
    ]
    assert server.heard == [("note", {"y": 6}), ("odd", {})]


def test_a_cancelled_request_is_cancelled_at_the_server_and_its_late_reply_is_dropped() -> None:
    async def scenario() -> tuple[list[JsonObject], int]:
        server = Server()
        task = await ask(server)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        server.say(id=1, result="late")
        return server.sent[1:], server.client.in_flight

    assert asyncio.run(scenario()) == ([{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}], 0)


@pytest.mark.parametrize(
    "stream",
    [
        b"Content-Length: 3\r\n\r\n{x}",
        b"Content-Length: 2\r\n\r\n[]",
        b'Content-Length: 13\r\n\r\n{"a":1,"a":2}',
        b"Content-Length: 3\r\n\r\n\xff\xff\xff",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        frame({"id": 99, "result": None}),
        frame({"id": "text", "result": None}),
        frame({"result": None}),
    ],
)
def test_nonsense_ends_the_conversation_and_every_request_in_it(stream: bytes) -> None:
    async def scenario() -> None:
        server = Server()
        task = await ask(server)
        with pytest.raises(Broken):
            server.client.receive(stream)
        with pytest.raises(Broken):
            await task
        with pytest.raises(Broken):
            await server.client.request("later", None)

    asyncio.run(scenario())


def test_a_server_that_never_stops_talking_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_UNASKED", 1000)
    server = Server()
    talk = (server.say(method="window/logMessage", params={"message": "x" * 50}) for _ in range(100))
    with pytest.raises(Broken):
        list(talk)

    assert 0 < len(server.heard) < 20


def test_what_was_asked_for_does_not_count_as_talking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_UNASKED", 300)

    async def scenario() -> int:
        server = Server()
        for number in range(1, 20):
            task = await ask(server)
            server.say(id=number, result="x" * 100)
            await task
        return number

    assert asyncio.run(scenario()) == 19


def test_requests_in_flight_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_IN_FLIGHT", 2)

    async def scenario() -> int:
        server = Server()
        tasks = [await ask(server), await ask(server)]
        with pytest.raises(RequestRefused):
            await server.client.request("one too many", None)
        server.client.end(Broken("done"))
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(server.sent)

    assert asyncio.run(scenario()) == 2
