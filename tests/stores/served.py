"""A server with tools that read and one that writes, for tests that kill it."""

from __future__ import annotations

import asyncio

from strictwire import Server
from strictwire.contract.safety import Safety

server = Server("served", version="1.0.0")


@server.tool(safety="read-only")
async def look(number: int) -> int:
    """Gives the number back."""
    return number


@server.tool(safety="read-only")
async def wait(number: int) -> int:
    """Gives the number back, later."""
    await asyncio.sleep(0)
    return number


@server.tool(safety="read-only")
def plain(number: int) -> int:
    """Gives the number back, from a thread."""
    return number


@server.tool(safety=Safety.MUTATING)
async def change(number: int) -> int:
    """Gives the number back, as if it had changed something."""
    return number


@server.tool()
async def fetch(headers: dict[str, str]) -> int:
    """Counts headers."""
    return len(headers)


@server.tool(safety=Safety.MUTATING)
async def leave() -> int:
    """Tries to end the process."""
    raise SystemExit(3)


if __name__ == "__main__":
    server.run()
