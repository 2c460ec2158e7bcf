"""A modern server whose tool `act` misbehaves in the way that the first argument names."""

import json
import sys
import time

BEHAVIOUR = sys.argv[1]
FINE = {"resultType": "complete", "content": [{"type": "text", "text": "fine"}]}
TOOL = {
    "name": "act",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
RESULTS = {
    "no_content": {"resultType": "complete"},
    "content_is_text": {**FINE, "content": "fine"},
    "content_without_type": {**FINE, "content": [{"text": "x"}]},
    "image_is_not_base64": {**FINE, "content": [{"type": "image", "data": "%%%", "mimeType": "image/png"}]},
    "is_error_is_text": {**FINE, "isError": "true"},
    "unknown_result_type": {**FINE, "resultType": "later"},
    "asks_undeclared": {
        "resultType": "input_required",
        "inputRequests": {"a": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}},
    },
    "asks_for_ever": {
        "resultType": "input_required",
        "inputRequests": {"a": {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}}},
    },
    "asks_nothing": {"resultType": "input_required"},
    "breaks_its_schema": {**FINE, "structuredContent": {"n": "one"}},
    "forgets_structured": FINE,
    "asks_too_much": {"resultType": "input_required", "inputRequests": {str(n): {"method": "ping"} for n in range(100)}},
}


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def reply(request_id: object, result: object = FINE) -> dict:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def flood_progress(_id: object) -> None:
    params = {"progressToken": 1, "progress": 1}
    while True:
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def flood_requests(request_id: object) -> None:
    for n in range(5000):
        send({"jsonrpc": "2.0", "id": f"r{n}", "method": "ping"})
    send(reply(request_id, {**FINE, "structuredContent": {"n": 1}}))


def drip(request_id: object) -> None:
    for byte in json.dumps(reply(request_id)):
        sys.stdout.write(byte)
        sys.stdout.flush()
        time.sleep(0.5)


def end(_id: object) -> None:
    sys.stderr.write("the last words")
    sys.exit(7)


def repeat_key(request_id: object) -> None:
    sys.stdout.write(f'{{"jsonrpc":"2.0","id":{request_id},"result":{{}},"result":{{}}}}\n')
    sys.stdout.flush()


ACTS = {
    "other_id": lambda _id: send(reply("another")),
    "duplicate_keys": repeat_key,
    "result_and_error": lambda id_: send({**reply(id_), "error": {"code": 1, "message": "m"}}),
    "error_without_code": lambda id_: send({"jsonrpc": "2.0", "id": id_, "error": {"message": "m"}}),
    "result_is_a_list": lambda id_: send(reply(id_, [])),
    "huge": lambda id_: send(reply(id_, {**FINE, "x": "a" * (9 * 1024 * 1024)})),
    "endless_progress": flood_progress,
    "floods_requests": flood_requests,
    "drip": drip,
    "silent": lambda _id: None,
    "exits": end,
}
"""How the call is answered; everything else is a row of RESULTS."""


def act(request_id: object) -> None:
    if BEHAVIOUR in ACTS:
        ACTS[BEHAVIOUR](request_id)
    else:
        send(reply(request_id, RESULTS[BEHAVIOUR]))


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message or "id" not in message:
        continue
    if message["method"] == "server/discover":
        found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        send({"jsonrpc": "2.0", "id": message["id"], "result": found})
    elif message["method"] == "tools/list":
        send({"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete", "tools": [TOOL]}})
    else:
        act(message["id"])
