"""A server for tests that answers the legacy handshake and then lists, lies or hangs, as its argument says."""

from __future__ import annotations

import json
import sys
import time

TOOLS = [{"name": "a", "description": "Says a.", "inputSchema": {"type": "object", "properties": {}}}]
LISTS = {
    "honest": {"tools": TOOLS},
    "junk": {"tools": [*TOOLS, {"name": 7}]},
    "nolist": {"tools": "many"},
    "endless": {"tools": TOOLS, "nextCursor": "again"},
}


def answer(message: dict[str, object], manner: str) -> dict[str, object] | None:
    if message.get("method") == "initialize":
        info = {"name": "liar", "version": "1"}
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
    if message.get("method") != "tools/list":
        return {"error": {"code": -32601, "message": "no"}}
    if manner == "hang":
        time.sleep(600)
    return {"error": {"code": -32603, "message": "no"}} if manner == "error" else {"result": LISTS[manner]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **(answer(message, sys.argv[1]) or {})}), flush=True)
