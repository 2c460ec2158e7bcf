"""A minimal legacy server. The first argument selects how it misbehaves."""

import json
import sys

BEHAVIOUR = sys.argv[1] if len(sys.argv) > 1 else "plain"
PAGES = {None: (["a", "b"], ""), "": (["c"], "next"), "next": (["d"], None)}


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def result_of(message: dict) -> dict | None:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}
        case "tools/list":
            names, following = PAGES[params.get("cursor")]
            if BEHAVIOUR in ("endless", "heavy"):
                following = ""
            page = {"tools": [{"name": name} for name in names]}
            if BEHAVIOUR == "heavy":
                page["tools"][0]["description"] = "x" * 7 * 1024 * 1024
            return page if following is None else {**page, "nextCursor": following}
        case "ask-me":
            send({"jsonrpc": "2.0", "id": 1, "method": "roots/list", "params": {}})
            answer = json.loads(sys.stdin.readline())
            return {"answer": answer}
        case "big":
            return {"text": "x" * (9 * 1024 * 1024)}
        case "both":
            send({"jsonrpc": "2.0", "id": message["id"], "result": {}, "error": {"code": 1, "message": "m"}})
            return None
        case "other-type":
            send({"jsonrpc": "2.0", "id": str(message["id"]), "result": {"wrong": True}})
            return {"right": True}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "server/discover":
        if BEHAVIOUR == "exits":
            sys.exit(3)
        if BEHAVIOUR == "other-version":
            data = {"supported": ["2099-01-01"], "requested": "2026-07-28"}
            error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
            send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        elif BEHAVIOUR != "silent":
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        continue
    if BEHAVIOUR == "noisy":
        sys.stdout.write("debug: a stray line\n")
    if message["method"] == "silence":
        continue
    if message["method"] == "exit":
        sys.stderr.write("the last words")
        sys.exit(4)
    found = result_of(message)
    if found is not None:
        send({"jsonrpc": "2.0", "id": message["id"], "result": found})
