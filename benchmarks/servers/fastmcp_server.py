"""The two tools on FastMCP, with contracts from type hints."""

from __future__ import annotations

import sys

from fastmcp import FastMCP
from fastmcp.tools import Tool
from typed import NAMES, add, echo

server: FastMCP[None] = FastMCP("bench", version="1.0.0")
for name in NAMES:
    server.add_tool(Tool.from_function(echo if name == "echo" else add, name=name))


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        server.run("stdio", show_banner=False, log_level="ERROR")
    else:
        port = int(sys.argv[2].rpartition(":")[2])
        options = {"access_log": False, "loop": "uvloop", "http": "httptools"}
        server.run(
            "http",
            host="127.0.0.1",
            port=port,
            show_banner=False,
            log_level="ERROR",
            json_response=True,
            uvicorn_config=options,
        )
