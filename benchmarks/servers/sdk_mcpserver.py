"""The two tools on MCPServer, the high-level server of the official Python SDK, with contracts from type hints."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer
from typed import NAMES, add, echo

server = MCPServer("bench", version="1.0.0", log_level="ERROR")
for name in NAMES:
    server.add_tool(echo if name == "echo" else add, name=name)


def serve_http(port: int) -> None:
    import uvicorn

    app = server.streamable_http_app(json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False, loop="uvloop", http="httptools")


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        server.run("stdio")
    else:
        serve_http(int(sys.argv[2].rpartition(":")[2]))
