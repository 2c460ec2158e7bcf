"""Our own client: it sees what every official client sees, and it works with servers of other authors."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from strictwire import Client, Elicitation, Http, LogMessage, Sampling, Stdio, ToolFailed
from strictwire.client.errors import OutputInvalid, RequestFailed
from tests.fixtures import hard
from tests.fixtures.guards import SDK_STDIO, free_port, serve_sdk_http, wait_for
from tests.fixtures.live import HERE, QUIET, HttpProcess, command, serve_http
from tests.interop.expected import expected
from tests.probe.peers import ON_FASTMCP

T = TypeVar("T")
Era = Literal["modern", "legacy"]
eras = pytest.mark.parametrize("era", ["modern", "legacy"])
pytestmark = pytest.mark.slow

COMMON = {
    "test_simple_text": ("This is a simple text response for testing.", ["Text"]),
    "test_image_content": ("", ["Image"]),
    "test_audio_content": ("", ["Audio"]),
    "test_embedded_resource": ("", ["Embedded"]),
    "test_sampling": ("LLM response: hey", ["Text"]),
    "test_elicitation": ("Elicitation completed: action=decline, content=null", ["Text"]),
    "test_reconnection": ("Reconnection test completed successfully", ["Text"]),
}
"""Text and kinds of content of tools of the SDK's everything-server, in both eras."""

ROUNDS = {
    "test_input_required_result_multiple_inputs": ("Got 3 answers", ["Text"]),
    "test_input_required_result_multi_round": ("both answered", ["Text"]),
}
"""The same for tools that take several rounds, in the modern era."""

NODE = Path(sys.executable).parent / "node"
EVERYTHING = Path(__file__).parent / "node/node_modules/@modelcontextprotocol/server-everything/dist/index.js"


class Person:
    """What the client gets to see, and what the person and the model behind it answer."""

    def __init__(self) -> None:
        self.logs: list[str] = []

    async def elicit(self, asked: Elicitation) -> dict[str, Any]:
        return {"name": asked.message.split(" ")[0]}

    async def sample(self, _asked: Sampling) -> dict[str, Any]:
        return {"role": "assistant", "content": {"type": "text", "text": "well"}, "model": "m", "stopReason": "endTurn"}

    def log(self, message: LogMessage) -> None:
        self.logs.append(message.level)


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine within a generous limit."""

    async def main() -> T:
        async with asyncio.timeout(120):
            return await work()

    return asyncio.run(main())


async def failing(work: Awaitable[Any]) -> Any:
    """The error code that a request ends with."""
    try:
        await work
    except RequestFailed as exc:
        return exc.number
    return "no error"


async def envelope(client: Client, tool: str, arguments: dict[str, Any] | None = None) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await client.call_tool(tool, arguments)
    return caught.value


async def tell(client: Client, person: Person) -> dict[str, Any]:
    """Do everything once, as the other clients do in their languages."""
    call = client.call_tool
    refused = {}
    for dialect, members in (("mcp", 1), ("resolve_v0", 1), ("system_1_0", 11)):
        failed = await envelope(client, f"refuse_{dialect}")
        refused[dialect] = [True, members, "structuredContent" in failed.result]
    progress: list[float] = []
    steps = asyncio.create_task(
        call("steps", {"values": [1, 2, 2, 3], "hold": "steps"}, on_progress=lambda each: progress.append(each.progress))
    )
    while len(progress) < 3:
        await asyncio.sleep(0.005)
    await call("let_go", {"name": "steps"})
    await steps
    await call("log_all")

    async def until_told(words: str) -> None:
        while words not in await call("story", returns=list[str]):
            await asyncio.sleep(0.005)

    held = asyncio.create_task(call("hold", {"name": "held"}))
    await until_told("began held")
    held.cancel()
    await until_told("cancelled held")
    async with client.listen(tools=True) as changes:
        await call("change_tools")
        change = await anext(changes)
    completion = await client.complete("name", "A", prompt="greet")
    return {
        "version": client.protocol_version,
        "server": client.server.name,
        "instructions": client.server.instructions,
        "tools": [each.name for each in await client.list_tools() if each.name in ("add", "ask_name", "refuse_mcp")],
        "sum": (await call("add", {"a": 1, "b": 2})).structured,
        "mirrored": (await call("mirrored", {"region": "é", "limit": 5, "nested": {"zone": "z"}})).text,
        "resources": [each.uri for each in await client.list_resources()],
        "templates": [each.uri_template for each in await client.list_resource_templates()],
        "read": (await client.read_resource("hard://watched/x")).text,
        "unread": await failing(client.read_resource("hard://nope")),
        "prompts": [each.name for each in await client.list_prompts()],
        "prompt": (await client.get_prompt("greet", {"name": "Ann"})).messages[0].content.text,  # type: ignore[union-attr]
        "completion": [len(completion.values), completion.total, completion.has_more],
        "progress": progress,
        "logs": person.logs,
        "asked": (await call("ask_name", {"greeting": "Hello"})).text,
        "sampled": (await call("ask_model", {"prompt": "?"})).text,
        "roots": await call("ask_roots", returns=list[str]),
        "invalid": (await envelope(client, "add", {"a": "5", "b": 1})).failure.code,
        "leaked": (await envelope(client, "leak")).failure.code,
        "unknown": await failing(call("nope")),
        "refused": refused,
        "thrown": await failing(call("refuse_mcp_v1")),
        "cancelled": held.cancelled(),
        "changes": change.kind == "tools",
    }


def converse(target: Any, era: Era) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        person = Person()
        client = Client(
            target,
            era=era,
            on_elicit=person.elicit,
            on_sample=person.sample,
            roots=["file:///w"],
            on_log=person.log,
            log_level="error",
        )
        async with client:
            return await tell(client, person)

    return run(main)


def story(era: Era) -> dict[str, Any]:
    return expected(modern=era == "modern", unread=-32602 if era == "modern" else -32002)


@eras
def test_the_story_over_stdio(era: Era) -> None:
    assert converse(Stdio(command("hard:server", "--stdio"), cwd=str(HERE), env=QUIET), era) == story(era)


@eras
def test_the_story_over_http(era: Era, http: HttpProcess) -> None:
    assert converse(Http(http.url), era) == story(era)


@eras
def test_the_story_in_memory(era: Era) -> None:
    assert converse(hard.server, era) == story(era)


def answering(target: Any, era: Era | None, **options: Any) -> Client:
    """A client whose user declines and whose model says hey."""
    answers: dict[str, Any] = {"on_elicit": lambda _: None, "on_sample": lambda _: "hey", "roots": ["file:///w"]}
    return Client(target, era=era, **answers, **options)


@contextmanager
def sdk(transport: str) -> Iterator[Any]:
    if transport == "stdio":
        yield Stdio(SDK_STDIO)
    else:
        with serve_sdk_http() as url:
            yield url


@eras
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_of_the_official_sdk(transport: str, era: Era) -> None:
    wanted = COMMON | (ROUNDS if era == "modern" else {})
    arguments = {"test_sampling": {"prompt": "x"}, "test_elicitation": {"message": "m"}}

    async def main(target: Any) -> tuple[Any, list[float], str]:
        progress: list[float] = []
        async with answering(target, era) as client:
            called = {}
            for name in wanted:
                result = await client.call_tool(name, arguments.get(name))
                called[name] = (result.text, [type(each).__name__ for each in result.content])
            await client.call_tool("test_tool_with_progress", on_progress=lambda each: progress.append(each.progress))
            failed = await envelope(client, "test_error_handling")
            await client.ping()
            return called, progress, failed.failure.code

    with sdk(transport) as target:
        found = run(lambda: main(target))

    assert found == (wanted, [0, 50, 100], "TOOL_FAILED")


@contextmanager
def fastmcp(transport: str) -> Iterator[Any]:
    if transport == "stdio":
        yield [*ON_FASTMCP, "--stdio"]
        return
    port = free_port()
    with subprocess.Popen([*ON_FASTMCP, "--http", str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


@eras
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_on_fastmcp(transport: str, era: Era) -> None:
    """It returns structured content that violates its own schema with success; the client does not."""

    async def main(target: Any) -> tuple[int, str, list[Any]]:
        async with answering(target, era, timeout=60) as client:
            total = await client.call_tool("add", {"a": 1, "b": 2}, returns=int)
            failed = await envelope(client, "fail")
            with pytest.raises(OutputInvalid) as caught:
                await client.call_tool("count")
            return total, failed.failure.code, list(caught.value.violations)

    with fastmcp(transport) as target:
        found = run(lambda: main(target))

    violation = {"path": "/count", "keyword": "type", "expected": "integer", "actual": "string"}
    assert found == (3, "TOOL_FAILED", [violation])


@contextmanager
def everything(transport: str) -> Iterator[Any]:
    """The everything-server of the TypeScript SDK."""
    if transport == "stdio":
        yield [str(NODE), str(EVERYTHING), "stdio"]
        return
    port = free_port()
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(
        [str(NODE), str(EVERYTHING), "streamableHttp"], env=environment, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_of_the_typescript_sdk(transport: str) -> None:
    async def main(target: Any) -> dict[str, Any]:
        progress: list[float] = []
        async with answering(target, None, timeout=60) as client:
            await client.call_tool(
                "trigger-long-running-operation",
                {"duration": 0.3, "steps": 3},
                on_progress=lambda each: progress.append(each.progress),
            )
            return {
                "version": client.protocol_version,
                "text": (await client.call_tool("echo", {"message": "hi"})).text,
                "structured": sorted(
                    await client.call_tool("get-structured-content", {"location": "New York"}, returns=dict[str, object])
                ),
                "image": [type(each).__name__ for each in (await client.call_tool("get-tiny-image")).content],
                "sampled": "hey" in (await client.call_tool("trigger-sampling-request", {"prompt": "p"})).text,
                "declined": "declined" in (await client.call_tool("trigger-elicitation-request")).text,
                "progress": progress,
                "prompt": len((await client.get_prompt("simple-prompt")).messages),
                "resources": len(await client.list_resources()) > 0,
            }

    with everything(transport) as target:
        found = run(lambda: main(target))

    assert found == {
        "version": "2025-11-25",
        "text": "Echo: hi",
        "structured": ["conditions", "humidity", "temperature"],
        "image": ["Text", "Image", "Text"],
        "sampled": True,
        "declined": True,
        "progress": [1, 2, 3],
        "prompt": 1,
        "resources": True,
    }


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_tasks_over_both_transports(transport: str) -> None:
    async def main(target: Any) -> list[Any]:
        async with Client(target, tasks=True, on_elicit=fill_in) as client:
            *done, failed = await asyncio.gather(
                client.call_tool("slow_compute", {"seconds": 0.01, "label": "it"}),
                client.call_tool("confirm_delete", {"filename": "a"}),
                client.call_tool("multi_input"),
                client.call_tool("test_tool_with_task"),
                envelope(client, "failing_job"),
            )
            return [*(each.text for each in done), failed.failure.code]

    def fill_in(asked: Elicitation) -> dict[str, Any]:
        return {name: {"string": "Ann", "boolean": True}[each["type"]] for name, each in asked.schema["properties"].items()}

    if transport == "stdio":
        found = run(lambda: main(Stdio(command("everything:server", "--stdio"), cwd=str(HERE), env=QUIET)))
    else:
        with serve_http("everything:server") as process:
            found = run(lambda: main(process.url))

    assert found == ["it is done", "Deleted a: True", "Got 2 answers", "Hello, Ann!", "NOT_FOUND"]
