"""A server with contradictory and missing hints. Each call leaves a line in the file CALLED."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HINTS: dict[str, object] = {
    "both": {"readOnlyHint": True, "destructiveHint": True},
    "text": {"readOnlyHint": "true"},
    "number": {"readOnlyHint": 1},
    "destructive_text": {"readOnlyHint": True, "destructiveHint": "no"},
    "list": ["readOnlyHint"],
    "none": None,
    "twice": {"readOnlyHint": True},
    "fine": {"readOnlyHint": True, "destructiveHint": False},
}
TOOLS = [
    {"name": name, "description": "Acts.", "inputSchema": {"type": "object"}, "annotations": hints}
    for name, hints in [*HINTS.items(), ("twice", {"readOnlyHint": False})]
]


def respond(message: dict[str, object]) -> dict[str, object]:
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        info = {"name": "contradictory", "version": "1"}
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call" and isinstance(params, dict) and params.get("name") in HINTS:
        with Path(os.environ["CALLED"]).open("a") as file:
            file.write(f"{params['name']}\n")
        return {"result": {"content": [{"type": "text", "text": "done"}]}}
    return {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "no"}}


for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **respond(message)}), flush=True)
