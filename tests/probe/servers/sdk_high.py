"""A server on the official SDK's high level, as its documentation shows it. Start it with `--stdio` or `--http PORT`."""

import asyncio
import sys
from typing import Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("sdk-high", log_level="ERROR")
READ_ONLY = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=READ_ONLY)
def total(numbers: list[int]) -> int:
    """Add many numbers."""
    return sum(numbers)


@server.tool(annotations=READ_ONLY)
def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool(annotations=READ_ONLY)
async def slow() -> str:
    """Take a while."""
    await asyncio.sleep(0.8)
    return "done"


@server.tool(annotations=READ_ONLY)
def ratio() -> float:
    """Return NaN."""
    return float("nan")


@server.tool(annotations=READ_ONLY)
def fail() -> str:
    """Raise."""
    raise ValueError("cannot connect: password=hunter2 at /srv/app/secret.py")


@server.tool(annotations=READ_ONLY)
def surrogate() -> str:
    """Return a file name that is not UTF-8."""
    return b"caf\xe9.txt".decode("utf-8", "surrogateescape")


@server.tool(annotations=READ_ONLY)
def thing() -> Any:  # type: ignore[explicit-any]
    """Return a value that JSON cannot represent."""
    return object()


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
