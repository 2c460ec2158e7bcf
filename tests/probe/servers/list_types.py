"""A server with one read-only tool whose argument has a list-valued `type`."""

from __future__ import annotations

import json
import sys

SCHEMA = {"type": "object", "properties": {"n": {"type": ["integer", "null"]}, "s": {"type": ["string", "null"]}}}
TOOL = {"name": "a", "description": "Says a.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}


def respond(method: object) -> dict[str, object]:
    if method == "initialize":
        info = {"name": "list-types", "version": "1"}
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": [TOOL]}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": "a"}]}}
    return {"error": {"code": -32601, "message": "no"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **respond(message.get("method"))}), flush=True)
