"""A test server that answers the legacy handshake; its argument selects a correct, malformed, endless or hanging list."""

from __future__ import annotations

import json
import sys
import time

TOOLS = [{"name": "a", "description": "Says a.", "inputSchema": {"type": "object", "properties": {}}}]
LISTS = {
    "correct": {"tools": TOOLS},
    "malformed-entry": {"tools": [*TOOLS, {"name": 7}]},
    "no-list": {"tools": "many"},
    "endless": {"tools": TOOLS, "nextCursor": "again"},
}


def respond(message: dict[str, object], behaviour: str) -> dict[str, object]:
    if message.get("method") == "initialize":
        info = {"name": "broken", "version": "1"}
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
    if message.get("method") != "tools/list":
        return {"error": {"code": -32601, "message": "no"}}
    if behaviour == "hang":
        time.sleep(600)
    return {"error": {"code": -32603, "message": "no"}} if behaviour == "error" else {"result": LISTS[behaviour]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **respond(message, sys.argv[1])}), flush=True)
