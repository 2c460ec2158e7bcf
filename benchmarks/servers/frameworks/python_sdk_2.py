"""A bare server on the high level of the official Python SDK 2. Start it with `--stdio` or `--http PORT`."""

import asyncio
import sys

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("bare", log_level="ERROR")
READ_ONLY = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READ_ONLY)
def count(number: int, text: str, items: list[int]) -> str:
    """Count."""
    return f"{number} {text} {len(items)}"


@server.tool(annotations=READ_ONLY)
async def wait() -> str:
    """Wait a little."""
    await asyncio.sleep(0.4)
    return "done"


@server.resource("note://one")
def note() -> str:
    """One note."""
    return "one"


@server.prompt()
def greet(name: str) -> str:
    """Greet someone."""
    return f"Say hello to {name}."


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", port=int(sys.argv[2]))
