"""A legacy server with one fault, named by its argument: dies, hangs, slow, exits-later, never-starts, mute-discover,
short-lines, floods, many-tools."""

from __future__ import annotations

import json
import sys
import time

FAULT = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOL = {"name": "a", "description": "Says a.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
INFO = {"name": "fragile", "version": "1"}
RESULTS: dict[object, object] = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO},
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "a"}]},
    "ping": {},
}


def respond(message: dict[str, object]) -> None:
    method = message.get("method")
    if method == "server/discover" and FAULT == "mute-discover":
        return
    if method == "strictwire/no-such-method" and FAULT in ("dies", "hangs"):
        fail()
    if method == "strictwire/no-such-method" and FAULT == "floods":
        while True:
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 10_000}}))
    if method == "tools/list" and FAULT == "many-tools":
        RESULTS["tools/list"] = {"tools": [{**TOOL, "name": f"t{index}"} for index in range(5001)]}
    if FAULT == "slow" and method != "initialize":
        time.sleep(0.3)
    outcome = {"result": RESULTS[method]} if method in RESULTS else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
    if FAULT == "exits-later" and method == "ping":
        sys.exit(4)


def fail() -> None:
    if FAULT == "dies":
        print("cannot go on: password=hunter2", file=sys.stderr)
        sys.exit(3)
    while True:
        time.sleep(1)


if FAULT == "never-starts":
    sys.exit("settings.toml is missing; api_key=abcdefgh12345678")
for line in iter(lambda: sys.stdin.buffer.readline(1_000_000), b""):
    if FAULT == "short-lines" and len(line) == 1_000_000:
        sys.exit(0)
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message:
        respond(message)
