"""What the client knows of tools: schemas check results, and lists are read again before a refusal."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from strictwire import Client
from strictwire.client.errors import NotUnderstood, OutputInvalid
from tests.fixtures.scripted_http import answer, served

COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


class Modern:
    """A modern server with one tool, `act`."""

    def __init__(self, **tool: Any) -> None:
        self.tool = {"name": "act", "inputSchema": {"type": "object"}, **tool}
        self.structured: Any = None
        self.requires: str | None = None
        self.asked: list[str] = []
        self.headers: list[str | None] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        self.asked.append(message["method"])
        match message["method"]:
            case "server/discover":
                return answer(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            case "tools/list":
                return answer(message, {"tools": [self.tool]})
        self.headers.append(request.headers.get("Mcp-Param-Region"))
        if self.requires is not None and self.headers[-1] is None:
            error = {"code": -32020, "message": "Header mismatch"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error}, status=400)
        result: dict[str, Any] = {"content": []}
        return answer(message, result if self.structured is None else {**result, "structuredContent": self.structured})


def call(server: Modern, arguments: dict[str, Any] | None = None) -> Any:
    async def act(url: str) -> Any:
        async with Client(url) as client:
            return (await client.call_tool("act", arguments)).structured

    return served(server.handle, act)


def test_without_structured_content_the_list_is_not_read() -> None:
    server = Modern()

    assert call(server) is None
    assert server.asked == ["server/discover", "tools/call"]


def test_structured_content_is_checked_against_the_advertised_schema() -> None:
    server = Modern(outputSchema=COUNTED)
    server.structured = {"n": 1}
    assert call(server) == {"n": 1}

    server.structured = {"n": "one"}
    with pytest.raises(OutputInvalid) as caught:
        call(server)

    violation = {"path": "/n", "keyword": "type", "expected": "integer", "actual": "string"}
    assert caught.value.violations == (violation,)


def test_a_schema_that_changed_at_the_server_is_read_again_before_a_result_is_refused() -> None:
    server = Modern(outputSchema=COUNTED)
    server.structured = {"n": "one"}

    async def act(url: str) -> Any:
        async with Client(url) as client:
            await client.list_tools()
            server.tool["outputSchema"] = {"type": "object"}
            return (await client.call_tool("act")).structured

    assert served(server.handle, act) == {"n": "one"}


def test_a_schema_that_refers_to_the_network_is_not_fetched() -> None:
    server = Modern(outputSchema={"$ref": "http://127.0.0.1:1/schema.json"})
    server.structured = {"n": 1}

    with pytest.raises(OutputInvalid, match="outputSchema"):
        call(server)


def test_headers_that_the_server_requires_are_sent_after_one_look_at_its_list() -> None:
    server = Modern(inputSchema=REGION)
    server.requires = "region"

    assert call(server, {"region": "ü"}) is None
    assert server.headers == [None, "=?base64?w7w=?="]
    assert server.asked == ["server/discover", "tools/call", "tools/list", "tools/call"]


def test_a_tool_with_an_invalid_annotation_is_left_out_and_not_called() -> None:
    server = Modern(inputSchema={"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}})

    async def act(url: str) -> list[str]:
        async with Client(url) as client:
            names = [tool.name for tool in await client.list_tools()]
            with pytest.raises(NotUnderstood, match="act must not be called: its x-mcp-header is invalid"):
                await client.call_tool("act")
            return names

    assert served(server.handle, act) == []
    assert "tools/call" not in server.asked
