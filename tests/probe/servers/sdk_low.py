"""A server on the official SDK's low level, which advertises schemas and applies none."""

import asyncio
import sys
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

INTEGERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
NOTHING: dict[str, Any] = {"type": "object", "additionalProperties": False}
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def _tool(name: str, schema: dict[str, Any], output: dict[str, Any] | None = None) -> Tool:
    return Tool(
        name=name,
        description=f"The tool {name}.",
        input_schema=schema,
        output_schema=output,
        annotations=ToolAnnotations(read_only_hint=True),
    )


TOOLS = [_tool("add", INTEGERS), _tool("count", NOTHING, COUNT), _tool("fail", NOTHING)]


async def list_tools(_ctx: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    arguments = params.arguments or {}
    if params.name == "fail":
        raise ValueError("cannot connect: password=hunter2 at /srv/app/secret.py")
    if params.name == "count":
        return CallToolResult(content=[TextContent(text="many")], structured_content={"count": "many"})
    return CallToolResult(content=[TextContent(text=f"{arguments['a']} and {arguments['b']}")])


server = Server("sdk-low", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        asyncio.run(serve_stdio())
    else:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
