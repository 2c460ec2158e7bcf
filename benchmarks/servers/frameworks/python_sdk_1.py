"""A bare server on the high level of the official Python SDK 1. Start it with `--stdio` or `--http PORT`."""

import asyncio
import sys

from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("bare", log_level="ERROR", port=int(sys.argv[2]) if len(sys.argv) > 2 else 8000)
READ_ONLY = ToolAnnotations(readOnlyHint=True)


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
    server.run("stdio" if sys.argv[1] == "--stdio" else "streamable-http")
