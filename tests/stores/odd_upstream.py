"""An MCP server whose output schema nothing can satisfy."""

from __future__ import annotations

import json
import sys

TOOL = {
    "name": "act",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "$ref": "#/$defs/p", "$defs": {"p": False}},
}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "odd", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [], "structuredContent": {"x": 1}},
    "ping": {},
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] in RESULTS:
        answer["result"] = RESULTS[request["method"]]
    else:
        answer["error"] = {"code": -32601, "message": "unknown"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
