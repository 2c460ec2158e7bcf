"""Dependencies: what a call gets, in which order it is cleaned up, and what their failures become.

Without `from __future__ import annotations`: type hints as text cannot name the functions inside of a test.
"""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any

import pytest

from strictwire import Caps, Context, Depends, MemoryClient, NotFound, Server, Unavailable
from strictwire.stores.memory.recorder import MemoryRecorder
from tests.fixtures.live import StdioProcess, modern
from tests.fixtures.stories import story

happened: list[str] = []


@pytest.fixture(autouse=True)
def _forget() -> None:
    happened.clear()


def plain() -> str:
    happened.append("plain")
    return "plain"


async def coroutine() -> str:
    happened.append("coroutine")
    return "coroutine"


def generator() -> Iterator[str]:
    happened.append("generator")
    try:
        yield "generator"
    finally:
        happened.append("generator ends")


async def async_generator() -> AsyncIterator[str]:
    happened.append("async generator")
    try:
        yield "async generator"
    finally:
        await asyncio.sleep(0)
        happened.append("async generator ends")


decorated = contextmanager(generator)
async_decorated = asynccontextmanager(async_generator)


class Made:
    """A class is a function too."""

    def __init__(self) -> None:
        self.word = plain()

    def __str__(self) -> str:
        return f"made of {self.word}"


class Object:
    """An object that can be called."""

    def __call__(self, repeat: int = 1) -> str:
        happened.append("object")
        return "object" * repeat


FUNCTIONS: list[tuple[Any, str]] = [
    (plain, "plain"),
    (coroutine, "coroutine"),
    (generator, "generator"),
    (async_generator, "async generator"),
    (decorated, "generator"),
    (async_decorated, "async generator"),
    (Made, "made of plain"),
    (lambda: "lambda", "lambda"),
    (functools.partial(Made), "made of plain"),
    (Object(), "object"),
]


def server_with(function: Any, kind: str, **scope: Any) -> Server:
    """A server whose tool, plain or a coroutine function, returns the value of a dependency."""
    server = Server("depends", version="1.0.0")

    def tool(value: Any, number: int) -> str:
        happened.append("called")
        return f"{value} {number}"

    async def async_tool(value: Any, number: int) -> str:
        return tool(value, number)

    chosen = async_tool if kind == "async" else tool
    chosen.__annotations__ |= {"value": Annotated[Any, Depends(function, **scope)], "number": int, "return": str}
    server.tool(name="use", safety="read-only")(chosen)
    return server


@pytest.mark.parametrize("kind", ["plain", "async"])
@pytest.mark.parametrize("scope", ["call", "server"])
@pytest.mark.parametrize(("function", "value"), FUNCTIONS)
@story
async def test_every_kind_of_function_provides_a_value(function: Any, value: str, scope: str, kind: str) -> None:
    server = server_with(function, kind, scope=scope)

    async with MemoryClient(server) as client:
        answers = [(await client.call_tool("use", {"number": number}))["content"][0]["text"] for number in (1, 2)]

    assert answers == [f"{value} 1", f"{value} 2"]
    times = 2 if scope == "call" else 1
    begun = [each for each in happened if each != "called" and not each.endswith(" ends")]
    assert len(begun) == (0 if value == "lambda" else times)
    assert len([each for each in happened if each.endswith(" ends")]) == (times if "generator" in value else 0)


@pytest.mark.parametrize("kind", ["plain", "async"])
@story
async def test_it_is_cleaned_up_after_the_call_or_at_the_end_of_the_server(kind: str) -> None:
    async with MemoryClient(server_with(generator, kind)) as client:
        await client.call_tool("use", {"number": 1})
        per_call = list(happened)
    happened.clear()
    async with MemoryClient(server_with(async_generator, kind, scope="server")) as client:
        await client.call_tool("use", {"number": 1})
        while_open = list(happened)

    assert per_call == ["generator", "called", "generator ends"]
    assert while_open == ["async generator", "called"]
    assert happened == ["async generator", "called", "async generator ends"]


@story
async def test_dependencies_of_dependencies_are_provided_once_in_a_call() -> None:
    server = Server("graph", version="1.0.0")

    def left(base: Annotated[str, Depends(generator)]) -> str:
        return f"left of {base}"

    async def right(base: Annotated[str, Depends(generator)], ctx: Context) -> str:
        return f"right of {base} for {ctx.facts['principal']}"

    @server.tool(safety="read-only")
    def use(one: Annotated[str, Depends(left)], two: Annotated[str, Depends(right)]) -> list[str]:
        return [one, two]

    async with MemoryClient(server) as client:
        done = await client.call_tool("use")
        listed = await client.request("tools/list")

    assert done["structuredContent"] == {"result": ["left of generator", "right of generator for local"]}
    assert happened == ["generator", "generator ends"]
    assert listed["tools"][0]["inputSchema"]["properties"] == {}


@story
async def test_resources_and_prompts_have_dependencies_too() -> None:
    server = Server("kinds", version="1.0.0")

    @server.resource("word://{number}")
    def read(number: int, word: Annotated[str, Depends(async_generator)]) -> str:
        return f"{word} {number}"

    @server.prompt
    def ask(number: int, word: Annotated[str, Depends(generator)]) -> str:
        return f"{word} {number}"

    async with MemoryClient(server) as client:
        contents = await client.request("resources/read", {"uri": "word://4"})
        prompt = await client.request("prompts/get", {"name": "ask", "arguments": {"number": "4"}})
        listed = await client.request("prompts/list")

    assert contents["contents"][0]["text"] == "async generator 4"
    assert prompt["messages"][0]["content"]["text"] == "generator 4"
    assert [each["name"] for each in listed["prompts"][0]["arguments"]] == ["number"]


def failing(error: Exception) -> Any:
    def provide() -> str:
        raise error

    return provide


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("tenant 7"), "NOT_FOUND"),
        (Unavailable("the database"), "UNAVAILABLE"),
        (ZeroDivisionError("secret"), "TOOL_FAILED"),
    ],
)
@pytest.mark.parametrize("kind", ["plain", "async"])
@story
async def test_one_that_raises_is_a_failure_of_the_call_and_recorded(error: Exception, code: str, kind: str) -> None:
    recorder = MemoryRecorder()

    async with MemoryClient(server_with(failing(error), kind), recorder=recorder) as client:
        done = await client.call_tool("use", {"number": 1})

    assert done["structuredContent"]["error"]["code"] == code
    assert "secret" not in str(done)
    assert [each["error_code"] for each in recorder.records] == [code]
    assert "called" not in happened


@pytest.mark.parametrize("kind", ["plain", "async"])
@story
async def test_arguments_are_refused_before_anything_is_opened(kind: str) -> None:
    async with MemoryClient(server_with(generator, kind)) as client:
        refused = await client.call_tool("use", {"number": "one"})
        injected = await client.call_tool("use", {"number": 1, "value": "mine"})

    assert refused["structuredContent"]["error"]["code"] == "INVALID_PARAMS"
    assert injected["structuredContent"]["error"]["code"] == "INVALID_PARAMS"
    assert happened == []


@pytest.mark.parametrize("function", [generator, async_generator])
@pytest.mark.parametrize("kind", ["plain", "async"])
@story
async def test_it_is_cleaned_up_after_an_exception(function: Any, kind: str) -> None:
    server = Server("raises", version="1.0.0")

    def tool(value: str) -> str:
        raise NotFound(value)

    async def async_tool(value: str) -> str:
        raise NotFound(value)

    chosen = async_tool if kind == "async" else tool
    chosen.__annotations__["value"] = Annotated[str, Depends(function)]
    server.tool(name="use", safety="read-only")(chosen)

    async with MemoryClient(server) as client:
        done = await client.call_tool("use")

    assert done["structuredContent"]["error"]["code"] == "NOT_FOUND"
    assert happened[-1].endswith(" ends")


@pytest.mark.parametrize("kind", ["plain", "async"])
@story
async def test_a_clean_up_cannot_swallow_the_failure(kind: str) -> None:
    server = Server("swallows", version="1.0.0")

    def swallow() -> Iterator[str]:
        try:
            yield "value"
        except NotFound:
            happened.append("swallowed")

    def tool(value: str) -> str:
        raise NotFound(value)

    async def async_tool(value: str) -> str:
        raise NotFound(value)

    chosen = async_tool if kind == "async" else tool
    chosen.__annotations__["value"] = Annotated[str, Depends(swallow)]
    server.tool(name="use", safety="read-only")(chosen)

    async with MemoryClient(server) as client:
        done = await client.call_tool("use")

    assert happened == ["swallowed"]
    assert done["structuredContent"]["error"]["code"] == "TOOL_FAILED"


@story
async def test_after_a_timeout_a_thread_is_cleaned_up_when_it_has_ended() -> None:
    server, release, ended = Server("slow", version="1.0.0"), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def held() -> AsyncIterator[str]:
        try:
            yield "held"
        finally:
            happened.append("returned")
            ended.set()

    @server.tool(safety="read-only", caps=Caps(timeout_ms=50))
    def block(value: Annotated[str, Depends(held)]) -> str:
        release.wait(20)
        happened.append("thread ends")
        return value

    async with MemoryClient(server) as client:
        done = await client.call_tool("block")
        assert happened == []
        loop.call_soon(release.set)
        await ended.wait()

    assert done["structuredContent"]["error"]["code"] == "TIMEOUT"
    assert happened == ["thread ends", "returned"]


def test_a_timeout_and_a_cancelled_call_are_cleaned_up(tmp_path: Any) -> None:
    journal = tmp_path / "log"
    with StdioProcess("lifespans:server", env={"LIFESPAN_LOG": str(journal)}) as server:
        timed_out = server.ask(modern(1, "tools/call", {"name": "hang", "arguments": {}}))
        server.send(modern(2, "tools/call", {"name": "wait", "arguments": {}}))
        server.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}')
        server.end_input()
        code = server.process.wait(20)
    noted = [line.rpartition(" ")[0] for line in journal.read_text().splitlines()]

    assert timed_out["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    assert (code, noted[0], noted[-1]) == (0, "open stateful", "close stateful")
    assert noted.count("take lease") == noted.count("return lease") == 1 + noted.count("waiting")
    assert noted.count("open file") == noted.count("close file") == 1


@story
async def test_a_tool_that_is_added_while_the_server_runs_opens_its_dependencies_at_the_first_call() -> None:
    server = Server("late", version="1.0.0")

    async with MemoryClient(server) as client:

        @server.tool(safety="read-only")
        def use(value: Annotated[str, Depends(generator, scope="server")]) -> str:
            return value

        before = list(happened)
        answers = await asyncio.gather(client.call_tool("use"), client.call_tool("use"))

    assert before == []
    assert [each["content"][0]["text"] for each in answers] == ["generator", "generator"]
    assert happened == ["generator", "generator ends"]
