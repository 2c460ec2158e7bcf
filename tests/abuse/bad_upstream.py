"""A hostile upstream: `python bad_upstream.py SCRIPT`. No dependency, both eras.

SCRIPT is a JSON file that is read before every list and call, so that one process can play many parts:

- `tools`: entries of its list (default: one harmless tool `act`)
- `steps`: what it does when a tool is called. `["write", text, times]` writes text to its output, with the id of the request
  in the place of %i; `["error", text, times]` does so to standard error; `["sleep", seconds]`; `["exit"]`.
  Without steps it answers as it should.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TOOL = {"name": "act", "inputSchema": {"type": "object"}}
INFO = {"name": "bad", "version": "1"}
GOOD = {"content": [{"type": "text", "text": "fine"}], "resultType": "complete"}
CAPABILITIES = {"tools": {"listChanged": True}}
STAMP = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
OPENINGS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES, **STAMP},
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": INFO},
    "ping": {},
}


def put(text: str) -> None:
    sys.stdout.buffer.write(text.encode("latin-1"))
    sys.stdout.buffer.flush()


def answer(request_id: object, result: object) -> None:
    put(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}) + "\n")


def play(steps: list[Any], request_id: object) -> None:
    for name, *given in steps:
        if name == "exit":
            os._exit(3)
        if name == "sleep":
            time.sleep(given[0])
        if name == "error":
            sys.stderr.write(given[0] * given[1])
        if name == "write":
            text = given[0].replace("%i", json.dumps(request_id))
            for _ in range(given[1]):
                put(text)


def serve(script: Path) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        method, request_id = request.get("method"), request.get("id")
        if request_id is None or method is None:
            continue
        given = json.loads(script.read_text(encoding="utf-8"))
        if method in OPENINGS:
            answer(request_id, OPENINGS[method])
        elif method == "tools/list":
            answer(request_id, {"tools": given.get("tools", [TOOL]), **STAMP})
        elif method == "tools/call":
            play(given["steps"], request_id) if "steps" in given else answer(request_id, GOOD)
        else:
            error = {"code": -32601, "message": "Method not found"}
            put(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}) + "\n")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
