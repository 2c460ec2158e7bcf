"""Servers of FastMCP 4 and of the official SDK under our contract, in one line, in their own process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mcp.server import MCPServer

from strictwire import MemoryClient, Server
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.transport.memory import CallFailed
from tests.fixtures.live import HERE, StdioProcess, modern
from tests.fixtures.stories import story

FASTMCP = HERE.parents[1] / ".venv-fastmcp" / "bin" / "python"


class ForeignProcess(StdioProcess):
    """A wrapped server, run by the Python that has FastMCP."""

    def command(self, place: str, *_arguments: str) -> list[str]:
        assert FASTMCP.exists(), "run ./scripts/peers"
        return [str(FASTMCP), str(HERE / "foreign.py"), place]


@pytest.fixture(scope="module", params=["fastmcp", "sdk"])
def server(request: pytest.FixtureRequest) -> Iterator[ForeignProcess]:
    with ForeignProcess(request.param) as process:
        yield process


def call(server: ForeignProcess, name: str, arguments: dict[str, Any], **meta: Any) -> dict[str, Any]:
    answer = server.ask(modern(1, "tools/call", {"name": name, "arguments": arguments}, **meta))
    result: dict[str, Any] = answer["result"]
    return result


@pytest.mark.slow
def test_calls_are_validated_and_answered(server: ForeignProcess) -> None:
    done, refused = call(server, "add", {"a": 1, "b": 2}), call(server, "add", {"a": "1", "b": 2})

    assert done["structuredContent"] == {"result": 3}
    assert refused["structuredContent"]["error"]["code"] == "INVALID_PARAMS"


@pytest.mark.slow
def test_failures_are_ours_and_have_no_exception_text(server: ForeignProcess) -> None:
    crashed, refused = call(server, "crash", {}), call(server, "refuse", {})

    assert crashed["structuredContent"]["error"]["code"] == "TOOL_FAILED"
    assert "secret" not in str(crashed)
    assert "not on Sundays" in refused["structuredContent"]["error"]["message"]


@pytest.mark.slow
def test_resources_and_prompts_are_served(server: ForeignProcess) -> None:
    fixed = server.ask(modern(1, "resources/read", {"uri": "words://now"}))["result"]
    template = server.ask(modern(2, "resources/read", {"uri": "words://many/one"}))["result"]
    prompt = server.ask(modern(3, "prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}))["result"]
    missing = server.ask(modern(4, "prompts/get", {"name": "greet", "arguments": {}}))

    assert [each["text"] for each in (*fixed["contents"], *template["contents"])] == ["some words", "many"]
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "Greet Ada"}}]
    assert missing["error"]["data"]["code"] == "INVALID_PARAMS"


@pytest.mark.slow
def test_its_lifespan_and_progress_work(server: ForeignProcess) -> None:
    server.send(modern(1, "tools/call", {"name": "state", "arguments": {}}, progressToken=5))
    progress, answer = server.receive(), server.receive()

    assert progress["params"] == {"progressToken": 5, "progress": 1, "total": 2, "message": "half"}
    assert answer["result"]["content"] == [{"type": "text", "text": "open"}]


@pytest.mark.slow
def test_only_annotated_tools_are_safe(server: ForeignProcess) -> None:
    listed = server.ask(modern(1, "tools/list"))["result"]["tools"]
    safe = [each["name"] for each in listed if each.get("annotations", {}).get("readOnlyHint")]

    assert safe == ["add"]


@story
async def test_it_works_inside_of_a_running_loop_and_is_recorded() -> None:
    inner: Any = MCPServer("inner")

    @inner.tool()
    def double(number: int) -> int:
        """Doubles."""
        return 2 * number

    wrapped = Server.from_fastmcp(inner)
    client = MemoryClient(wrapped)
    async with client as connection:
        done = await connection.call_tool("double", {"number": 4})

    assert done["structuredContent"] == {"result": 8}
    assert wrapped.catalog.offers.registry.tools["double"].safety.value == "undeclared"
    records: Any = client.recorder
    assert [each["kind"] for each in records.records] == ["intent", "outcome"]


def test_something_else_is_refused() -> None:
    with pytest.raises(DeclarationRefused) as caught:
        Server.from_fastmcp(object())

    assert str(caught.value) == (
        "Server.from_fastmcp(): object is no server; pass a FastMCP, or an MCPServer of the official SDK"
    )


@story
async def test_no_template_reads_a_resource_that_is_left_out() -> None:
    """The wrapped server itself still has it."""
    inner: Any = MCPServer("inner")
    hidden = {"fastmcp": {"tags": ["admin"]}}

    @inner.resource("words://secret", meta=hidden)
    def secret() -> str:
        return "secret"

    @inner.resource("words://one/{name}", meta=hidden)
    def one(name: str) -> str:
        return f"secret {name}"

    @inner.resource("words://{+path}")
    def word(path: str) -> str:
        return f"word {path}"

    read = []
    async with MemoryClient(Server.from_fastmcp(inner, exclude_tags={"admin"})) as client:
        for uri in ("words://secret", "words://one/a", "words://two/a"):
            try:
                read.append((await client.request("resources/read", {"uri": uri}))["contents"][0]["text"])
            except CallFailed as refused:
                read.append(refused.error["data"]["code"])

    assert read == ["RESOURCE_NOT_FOUND", "RESOURCE_NOT_FOUND", "word two/a"]
