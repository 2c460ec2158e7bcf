"""A server on the low level of the official Python SDK 1, with nothing of its own. Start it with `--stdio`."""

import asyncio

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("bare")
PROPERTIES = {
    "number": {"type": "integer"},
    "text": {"type": "string"},
    "items": {"type": "array", "items": {"type": "integer"}},
}
READ_ONLY = types.ToolAnnotations(readOnlyHint=True)


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        types.Tool(
            name="count",
            description="Count.",
            annotations=READ_ONLY,
            inputSchema={"type": "object", "properties": PROPERTIES, "required": list(PROPERTIES)},
        ),
        types.Tool(name="wait", description="Wait.", annotations=READ_ONLY, inputSchema={"type": "object"}),
    ]


@server.call_tool()
async def call_tool(name: str, _arguments: dict[str, object]) -> list[types.TextContent]:
    if name == "wait":
        await asyncio.sleep(0.4)
    elif name != "count":
        raise ValueError(f"Unknown tool: {name}")
    return [types.TextContent(type="text", text="done")]


async def main() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
