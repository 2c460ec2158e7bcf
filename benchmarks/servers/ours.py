"""The two tools on strictwire, every check on. `ours.py --stdio`, or `ours.py --http HOST:PORT`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from strictwire import Server


async def _add(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"sum": arguments["a"] + arguments["b"]}


async def _echo(arguments: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = arguments["document"]
    return document


def make_server() -> Server:
    """A server that offers the tools of the file that BENCH_TOOLS names."""
    server = Server("bench", version="1.0.0")
    for tool in json.loads(Path(os.environ["BENCH_TOOLS"]).read_text())["tools"]:
        server.tool(
            name=tool["name"],
            description=tool["description"],
            input_schema=tool["inputSchema"],
            output_schema=tool["outputSchema"],
        )(_echo if tool["name"] == "echo" else _add)
    return server


if __name__ == "__main__":
    make_server().run()
