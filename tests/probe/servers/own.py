"""A strictwire server with the same tools as the other fixture servers. Start it with `--stdio` or `--http PORT`."""

import asyncio
import sys
from typing import Any

from strictwire import Server

server = Server("own", version="1.0.0")


@server.tool(safety="read-only")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(safety="read-only")
def total(numbers: list[int]) -> int:
    """Add many numbers."""
    return sum(numbers)


@server.tool(safety="read-only")
def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool(safety="read-only")
async def slow() -> str:
    """Take a while."""
    await asyncio.sleep(0.8)
    return "done"


@server.tool(safety="read-only")
def ratio() -> float:
    """Return NaN."""
    return float("nan")


@server.tool(safety="read-only")
def fail() -> str:
    """Raise."""
    raise ValueError("cannot connect: password=hunter2 at /srv/app/secret.py")


@server.tool(safety="read-only")
def surrogate() -> str:
    """Return a file name that is not UTF-8."""
    return b"caf\xe9.txt".decode("utf-8", "surrogateescape")


@server.tool(
    safety="read-only", output_schema={"type": "object", "additionalProperties": False}, input_schema={"type": "object"}
)
def thing(_arguments: dict[str, Any]) -> Any:
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
    server.run(["--stdio"] if sys.argv[1] == "--stdio" else ["--http", f"127.0.0.1:{sys.argv[2]}"])
