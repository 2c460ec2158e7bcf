"""A server on FastMCP 2, 3 or 4, with nothing of its own. Start it with `--stdio` or `--http PORT`."""

import asyncio
import sys

from fastmcp import FastMCP

server = FastMCP("bare")
READ_ONLY = {"readOnlyHint": True}


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
        server.run("stdio", show_banner=False)
    else:
        server.run("http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
