"""Messages of a shared connection: responses in any order, requests of the server, and what is malformed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.channel import Callbacks
from strictwire.client.errors import NotUnderstood, ServerGone
from strictwire.client.message import request
from strictwire.client.router import MAX_ANSWERING, MessageRouter


class Wire:
    """Keeps what is written, and plays the server."""

    def __init__(self, callbacks: Callbacks | None = None) -> None:
        self.sent: list[JsonObject] = []
        self.router = MessageRouter(callbacks or Callbacks(), self.write)

    async def write(self, message: JsonObject) -> None:
        self.sent.append(message)

    def ask(self, number: int, method: str = "m") -> asyncio.Task[Any]:
        return asyncio.create_task(self.router.request(request(number, method, {})))


def test_responses_may_arrive_in_any_order() -> None:
    async def main() -> list[Any]:
        wire = Wire()
        tasks = [wire.ask(number) for number in (1, 2)]
        await asyncio.sleep(0)
        for number in (2, 1):
            wire.router.take(b'{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}' % (number, number))
        return [(await task)[0]["result"]["n"] for task in tasks]

    assert asyncio.run(main()) == [1, 2]


def test_a_malformed_response_fails_its_request_only() -> None:
    async def main() -> None:
        wire = Wire()
        first, second = wire.ask(1), wire.ask(2)
        await asyncio.sleep(0)
        wire.router.take(b'{"jsonrpc":"2.0","id":1,"result":{},"result":{}}')
        wire.router.take(b'log: "id": 2')
        wire.router.take(b'{"jsonrpc":"2.0","id":2,"result":{}}')
        with pytest.raises(NotUnderstood):
            await first
        await second

    asyncio.run(main())


@pytest.mark.parametrize(("method", "expected"), [("tools/call", ["notifications/cancelled"]), ("initialize", [])])
def test_a_cancelled_request_is_cancelled_at_the_server_unless_it_opens_the_session(
    method: str, expected: list[str]
) -> None:
    async def main() -> list[Any]:
        wire = Wire()
        task = wire.ask(1, method)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)
        return [message["method"] for message in wire.sent[1:]]

    assert asyncio.run(main()) == expected


def test_only_so_many_requests_of_the_server_are_answered_at_once() -> None:
    async def main() -> int:
        started: list[JsonObject] = []

        async def answer(message: JsonObject) -> JsonObject:
            started.append(message)
            await asyncio.sleep(3600)
            return message

        wire = Wire(Callbacks(on_request=answer))
        for number in range(2 * MAX_ANSWERING):
            wire.router.take(json.render(request(f"r{number}", "ping", {})))
        await asyncio.sleep(0)
        await wire.router.close(ServerGone())
        return len(started)

    assert asyncio.run(main()) == MAX_ANSWERING


def test_closing_fails_what_is_in_flight() -> None:
    async def main() -> None:
        wire = Wire()
        task = wire.ask(1)
        await asyncio.sleep(0)
        await wire.router.close(ServerGone(3))
        with pytest.raises(ServerGone) as caught:
            await task
        assert caught.value.exit_code == 3

    asyncio.run(main())
