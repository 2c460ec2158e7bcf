"""An MCP server with unusual schemas: outputs that nothing can satisfy, members whose names match a pattern."""

from __future__ import annotations

import json
import sys
from typing import Any

NEVER: dict[str, Any] = {"$ref": "#/$defs/p", "$defs": {"p": False}}
NAMED: dict[str, Any] = {"type": "object", "properties": {"headers": {"patternProperties": {"": {"type": "string"}}}}}
TOOLS = [
    {"name": "act", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", **NEVER}},
    {"name": "act_untyped", "inputSchema": {"type": "object"}, "outputSchema": NEVER},
    {"name": "fetch", "inputSchema": NAMED},
]
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "odd", "version": "1"},
    },
    "tools/list": {"tools": TOOLS},
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
