"""A server on FastMCP with its defaults. Runs in the virtual environment that scripts/peers creates."""

import asyncio
import sys
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools.base import ToolResult
from mcp_types import ToolAnnotations

server = FastMCP("on-fastmcp", strict_input_validation="--strict" in sys.argv)
READ_ONLY = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=READ_ONLY)
async def slow() -> str:
    """Take a while."""
    await asyncio.sleep(0.8)
    return "done"


@server.tool(annotations=READ_ONLY, output_schema={"type": "object", "properties": {"count": {"type": "integer"}}})
def count() -> ToolResult:
    """Violate the output schema."""
    return ToolResult(structured_content={"count": "many"})


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


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        server.run("stdio", show_banner=False)
    else:
        server.run("http", port=int(sys.argv[2]), show_banner=False, log_level="error")
