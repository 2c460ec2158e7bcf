"""Handlers that block the event loop are found, and run as they do without the search."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Generator
from typing import Any

import pytest
from tests.fixtures.stories import story

from strictwire import Caps, MemoryClient, Server, ToolError
from strictwire.pipeline.blocking import Watched, WatchingRunner
from strictwire.settings.model import LogSettings, Settings


class Clock:
    """A clock that handlers move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setitem(WatchingRunner.__init__.__kwdefaults__, "clock", made)
    return made


WATCHING = Settings(log=LogSettings(slow_handler_ms=100))


def make_server(clock: Clock) -> Server:
    server = Server("s", version="1.0.0")

    @server.tool()
    async def block(ms: int) -> int:
        clock.now += ms / 1000
        return ms

    @server.tool()
    async def wait(ms: int) -> int:
        for _ in range(3):
            clock.now += ms / 1000
            await asyncio.sleep(0)
        return ms

    @server.tool()
    def plain(ms: int) -> int:
        clock.now += ms / 1000
        return ms

    @server.tool()
    async def fail() -> None:
        clock.now += 0.2
        await asyncio.sleep(0)
        raise ToolError("no")

    return server


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "event loop" in each.getMessage()]


@story
async def _call(server: Server, settings: Settings, calls: list[tuple[str, dict[str, Any]]]) -> None:
    async with MemoryClient(server, settings=settings) as client:
        for name, arguments in calls:
            await client.call_tool(name, arguments)


def test_a_tool_that_blocks_is_named_once_with_what_to_do(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    _call(make_server(clock), WATCHING, [("block", {"ms": 250}), ("block", {"ms": 900})])

    (warned,) = warnings(caplog)
    assert warned == (
        "tool block held the event loop for 250 ms, and no other call ran meanwhile: use def instead of async def, or "
        "asyncio.to_thread"
    )


@pytest.mark.parametrize(("name", "ms", "warned"), [("block", 99, 0), ("wait", 60, 0), ("wait", 100, 1), ("plain", 900, 0)])
def test_each_step_counts_alone_and_threads_do_not_count(
    name: str, ms: int, warned: int, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    _call(make_server(clock), WATCHING, [(name, {"ms": ms})])

    assert len(warnings(caplog)) == warned


def test_a_tool_that_fails_is_found_too(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    _call(make_server(clock), WATCHING, [("fail", {})])

    assert len(warnings(caplog)) == 1


def test_nothing_is_measured_by_default(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    _call(make_server(clock), Settings(), [("block", {"ms": 900})])

    assert warnings(caplog) == []


@story
async def test_a_timeout_cancels_a_watched_handler() -> None:
    server, ended = Server("s", version="1.0.0"), asyncio.Event()

    @server.tool(caps=Caps(timeout_ms=1))
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with MemoryClient(server, settings=WATCHING) as client:
        answer = await client.call_tool("hang")
        await ended.wait()

    assert answer["structuredContent"]["error"]["code"] == "TIMEOUT"


@story
async def test_values_exceptions_and_the_end_pass_through() -> None:
    told: list[str] = []

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, "value")
        return await future

    async def run() -> object:
        return await Watched(work(), lambda: 0.0)

    task = asyncio.ensure_future(run())
    await asyncio.sleep(0)
    task.cancel()

    assert await task == "value"
    assert told == ["cancelled"]


def test_a_handler_that_is_given_up_is_closed() -> None:
    told: list[str] = []

    @types.coroutine
    def pause() -> Generator[None, None, None]:
        yield

    async def work() -> None:
        try:
            await pause()
        finally:
            told.append("closed")

    steps = Watched(work(), lambda: 0.0).__await__()
    next(steps)
    steps.close()

    assert told == ["closed"]
