"""A bare server on the low level of the official Python SDK 2. Start it with `--stdio` or `--http PORT`."""

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

PROPERTIES = {
    "number": {"type": "integer"},
    "text": {"type": "string"},
    "items": {"type": "array", "items": {"type": "integer"}},
}
READ_ONLY = ToolAnnotations(read_only_hint=True)
TOOLS = [
    Tool(
        name="count",
        description="Count.",
        annotations=READ_ONLY,
        input_schema={"type": "object", "properties": PROPERTIES, "required": list(PROPERTIES)},
    ),
    Tool(name="wait", description="Wait.", annotations=READ_ONLY, input_schema={"type": "object"}),
]


async def list_tools(_ctx: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    if params.name == "wait":
        await asyncio.sleep(0.4)
    elif params.name != "count":
        raise ValueError(f"Unknown tool: {params.name}")
    return CallToolResult(content=[TextContent(text="done")])


server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        asyncio.run(serve_stdio())
    else:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
