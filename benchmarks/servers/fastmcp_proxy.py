"""FastMCP's proxy over HTTP in front of a stdio server: `fastmcp_proxy.py --http HOST:PORT -- COMMAND...`."""

from __future__ import annotations

import os
import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

if __name__ == "__main__":
    at = sys.argv.index("--")
    upstream = StdioTransport(command=sys.argv[at + 1], args=sys.argv[at + 2 :], env=dict(os.environ))
    server = create_proxy(upstream, name="bench-proxy")
    port = int(sys.argv[2].rpartition(":")[2])
    options = {"access_log": False, "loop": "uvloop", "http": "httptools"}
    server.run(
        "http", host="127.0.0.1", port=port, show_banner=False, log_level="ERROR", json_response=True, uvicorn_config=options
    )
