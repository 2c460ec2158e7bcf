"""The two tools on strictwire with all checks. `ours.py --stdio`, or `ours.py --http HOST:PORT`."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from strictwire import Server


async def _add(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"sum": arguments["a"] + arguments["b"]}


async def _add_and_wait(arguments: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"sum": arguments["a"] + arguments["b"]}


def _add_plainly(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"sum": arguments["a"] + arguments["b"]}


async def _echo(arguments: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = arguments["document"]
    return document


ADDERS = {"returns": _add, "waits": _add_and_wait, "plain": _add_plainly}


def make_server() -> Server:
    """A server with the tools of the file BENCH_TOOLS."""
    server = Server("bench", version="1.0.0")
    add: Any = ADDERS[os.environ.get("BENCH_HANDLER", "returns")]
    for tool in json.loads(Path(os.environ["BENCH_TOOLS"]).read_text())["tools"]:
        server.tool(
            safety="read-only",
            name=tool["name"],
            description=tool["description"],
            input_schema=tool["inputSchema"],
            output_schema=tool["outputSchema"],
        )(_echo if tool["name"] == "echo" else add)
    return server


if __name__ == "__main__":
    make_server().run()
