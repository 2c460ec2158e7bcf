"""The connection inside one process: the same bytes, the same answers, no pipe and no socket."""

from __future__ import annotations

import asyncio

import pytest

from strictwire import Context, MemoryClient, Server
from strictwire.canon.json import parse_object
from strictwire.transport.memory import CallFailed
from tests.fixtures.live import modern
from tests.transport.malformed import NOT_A_REQUEST, NOT_JSON


def made() -> Server:
    server = Server("memory", version="1")

    @server.tool(safety="read-only")
    async def add(a: int, b: int, ctx: Context) -> int:
        """Adds."""
        ctx.progress(1)
        return a + b

    return server


def test_a_tool_is_called_and_its_notifications_are_kept() -> None:
    async def talk() -> None:
        async with MemoryClient(made()) as client:
            result = await client.call_tool("add", {"a": 1, "b": 2}, _meta={"progressToken": "t"})

            assert result["structuredContent"] == {"result": 3}
            assert [each["params"] for each in client.notifications] == [{"progressToken": "t", "progress": 1}]

    asyncio.run(talk())


def test_an_error_is_raised_whole() -> None:
    async def talk() -> None:
        async with MemoryClient(made()) as client:
            with pytest.raises(CallFailed) as caught:
                await client.call_tool("nope")

            assert caught.value.error["data"] == {"code": "UNKNOWN_TOOL"}

    asyncio.run(talk())


def test_malformed_bytes_are_answered_as_on_any_transport() -> None:
    async def talk() -> None:
        async with MemoryClient(made()) as client:
            for raw in NOT_JSON.values():
                assert parse_object(await client.send(raw) or b"")["error"]["code"] == -32700
            for raw, _ in NOT_A_REQUEST.values():
                assert parse_object(await client.send(raw) or b"")["error"]["code"] == -32600
            assert await client.send(b'{"jsonrpc":"2.0","method":"notifications/x"}') is None

    asyncio.run(talk())


def test_two_runs_give_the_same_bytes() -> None:
    async def talk() -> list[bytes | None]:
        async with MemoryClient(made()) as client:
            return [await client.send(modern(1, "tools/list")), await client.send(modern(2, "tools/call", {"name": "add"}))]

    assert asyncio.run(talk()) == asyncio.run(talk())
