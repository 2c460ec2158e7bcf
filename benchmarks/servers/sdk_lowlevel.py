"""The two tools on the low-level server of the official Python SDK, which validates neither arguments nor results."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOLS = json.loads(Path(os.environ["BENCH_TOOLS"]).read_text())["tools"]
SCHEMAS = {tool["name"]: tool["inputSchema"] for tool in TOOLS}


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in TOOLS])


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    result = given["document"] if params.name == "echo" else {"sum": given["a"] + given["b"]}
    text = types.TextContent(type="text", text=json.dumps(result))
    return types.CallToolResult(content=[text], structured_content=result)


# Without get_tool_input_schema, the SDK runs tools/list on every modern call; with it, the SDK is measured at its best.
server: Server[Any] = Server(
    "bench", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=SCHEMAS.get
)


async def serve_stdio() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def serve_http(port: int) -> None:
    import uvicorn

    app = server.streamable_http_app(json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False, loop="uvloop", http="httptools")


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        anyio.run(serve_stdio)
    else:
        serve_http(int(sys.argv[2].rpartition(":")[2]))
