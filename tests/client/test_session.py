"""Sessions with servers of both eras over both transports, and with servers that misbehave."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from strictwire.canon.json import JsonObject
from strictwire.client import (
    CannotReach,
    Era,
    NotUnderstood,
    RemoteError,
    Result,
    ServerGone,
    Session,
    SessionOptions,
    TimedOut,
    TooLarge,
    open_http,
    open_stdio,
)
from strictwire.client.channel import Callbacks

T = TypeVar("T")
SCRIPTED = Path(__file__).parent / "servers" / "scripted.py"
SDK = Path(__file__).parents[1] / "probe" / "servers" / "sdk_low.py"
ADDED = {"content": [{"type": "text", "text": "1 and 2"}], "isError": False}


def scripted(
    behaviour: str, act: Callable[[Session], Awaitable[T]], options: SessionOptions | None = None
) -> tuple[T, Session]:
    """Run `act` in a session with the scripted server."""

    async def main() -> tuple[T, Session]:
        async with asyncio.timeout(20):
            async with await open_stdio([sys.executable, str(SCRIPTED), behaviour], options) as session:
                return await act(session), session

    return asyncio.run(main())


@pytest.fixture(scope="module")
def sdk_url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, str(SDK), "--http", str(port)]) as process:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


async def use(session: Session) -> tuple[Era, str, list[str], object, object]:
    tools = await session.list_tools()
    assert isinstance(tools, list)
    called = await session.request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    refused = await session.request("no/such/method")
    assert isinstance(called, Result)
    assert isinstance(refused, RemoteError)
    assert b'"1 and 2"' in called.raw
    kept = {name: called.value[name] for name in ADDED}
    return session.era, session.version, [tool["name"] for tool in tools], kept, refused.code


USED = (Era.MODERN, "2026-07-28", ["add", "count", "fail"], ADDED, -32601)


def test_a_modern_server_over_stdio() -> None:
    async def main() -> object:
        async with await open_stdio([sys.executable, str(SDK), "--stdio"]) as session:
            return await use(session)

    assert asyncio.run(main()) == USED


def test_a_modern_server_over_http(sdk_url: str) -> None:
    async def main() -> object:
        async with await open_http(sdk_url) as session:
            return await use(session)

    assert asyncio.run(main()) == USED


def test_many_requests_can_be_in_flight(sdk_url: str) -> None:
    async def main() -> list[str]:
        async with await open_http(sdk_url) as session:
            asked = [session.request("tools/call", {"name": "add", "arguments": {"a": n, "b": 0}}) for n in range(40)]
            replies = await asyncio.gather(*asked)
        return [reply.value["content"][0]["text"] for reply in replies if isinstance(reply, Result)]

    assert asyncio.run(main()) == [f"{n} and 0" for n in range(40)]


def test_a_legacy_server_is_initialized_and_listed_over_all_pages() -> None:
    async def act(session: Session) -> object:
        return await session.list_tools()

    tools, session = scripted("plain", act)

    assert tools == [{"name": name} for name in "abcd"]
    assert (session.era, session.version, session.capabilities) == (Era.LEGACY, "2025-06-18", {"tools": {}})


@pytest.mark.parametrize("behaviour", ["exits", "silent", "noisy"])
def test_a_legacy_server_that_does_not_answer_discover_is_opened(behaviour: str) -> None:
    async def act(session: Session) -> Era:
        return session.era

    assert scripted(behaviour, act, SessionOptions(detect_seconds=1.5))[0] is Era.LEGACY


def test_no_version_in_common_is_an_error() -> None:
    async def act(_session: Session) -> None:
        return None

    with pytest.raises(NotUnderstood, match="no protocol version in common; the server supports 2099-01-01"):
        scripted("other-version", act)


def test_endless_paging_is_stopped() -> None:
    async def act(session: Session) -> None:
        with pytest.raises(NotUnderstood, match="pages"):
            await session.list_tools()

    scripted("endless", act)


def test_the_bytes_of_all_pages_are_bounded() -> None:
    async def act(session: Session) -> None:
        with pytest.raises(NotUnderstood, match="33554432 bytes"):
            await session.list_tools()

    scripted("heavy", act)


def test_a_response_with_an_id_of_another_type_is_ignored() -> None:
    async def act(session: Session) -> object:
        return await session.request("other-type")

    reply, _ = scripted("plain", act)

    assert isinstance(reply, Result)
    assert reply.value == {"right": True}


def test_a_request_from_the_server_is_refused_by_default() -> None:
    async def act(session: Session) -> object:
        return await session.request("ask-me")

    reply, _ = scripted("plain", act)

    error = {"code": -32601, "message": "Method not found"}
    assert isinstance(reply, Result)
    assert reply.value == {"answer": {"jsonrpc": "2.0", "id": 1, "error": error}}


def test_a_request_from_the_server_is_passed_to_the_callback() -> None:
    async def answer(message: JsonObject) -> JsonObject:
        return {"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}}

    async def act(session: Session) -> object:
        return await session.request("ask-me")

    reply, _ = scripted("plain", act, SessionOptions(callbacks=Callbacks(on_request=answer)))

    assert isinstance(reply, Result)
    assert reply.value == {"answer": {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}}


def test_a_request_without_a_response_times_out_and_the_session_continues() -> None:
    async def act(session: Session) -> object:
        with pytest.raises(TimedOut):
            await session.request("silence", seconds=0.3)
        return await session.list_tools()

    assert scripted("plain", act)[0] == [{"name": name} for name in "abcd"]


def test_a_response_that_is_too_large_fails_the_request_and_the_session_continues() -> None:
    async def act(session: Session) -> object:
        with pytest.raises(TooLarge):
            await session.request("big")
        return await session.list_tools()

    assert scripted("plain", act)[0] == [{"name": name} for name in "abcd"]


def test_a_response_with_both_result_and_error_is_not_understood() -> None:
    async def act(session: Session) -> None:
        with pytest.raises(NotUnderstood):
            await session.request("both")

    scripted("plain", act)


def test_a_server_that_exits_fails_this_request_and_the_next() -> None:
    async def act(session: Session) -> tuple[int | None, bytes]:
        with pytest.raises(ServerGone) as caught:
            await session.request("exit")
        with pytest.raises(ServerGone):
            await session.request("tools/list")
        return caught.value.exit_code, caught.value.stderr

    assert scripted("plain", act)[0] == (4, b"the last words")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/mcp", "ftp://127.0.0.1/", "nonsense"])
def test_a_url_without_a_server_cannot_be_reached(url: str) -> None:
    with pytest.raises(CannotReach):
        asyncio.run(open_http(url))
