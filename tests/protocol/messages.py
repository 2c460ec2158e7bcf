"""Messages of the cases, and how their answers are read."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from strictwire.canon.json import JsonObject, parse_object, render
from tests.fixtures.live import INITIALIZED, Answer, HttpProcess, StdioProcess, initialize, legacy, modern, request, wait_for

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


_numbers = itertools.count(1)


def unused() -> str:
    """A name that no call of this process has held: a server behind several guards remembers every name."""
    return f"call-{next(_numbers)}"


def opened(process: StdioProcess, revision: str = "2025-11-25", **capabilities: Any) -> StdioProcess:
    assert process.ask(initialize(revision, capabilities))["id"] == "init"
    process.send(INITIALIZED)
    return process


def call(request_id: object, name: str, /, **arguments: Any) -> bytes:
    return legacy(request_id, "tools/call", {"name": name, "arguments": arguments})


def modern_call(request_id: object, name: str, /, **arguments: Any) -> bytes:
    return modern(request_id, "tools/call", {"name": name, "arguments": arguments})


def cancel(request_id: object) -> bytes:
    return render({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})  # type: ignore[dict-item]


def verb(http: HttpProcess, name: str, headers: dict[str, str]) -> Answer:
    with http.connect() as connection:
        connection.write(request(b"", headers, port=http.port, verb=name))
        return connection.answer(name)


def outcome(message: JsonObject) -> object:
    """The result, or the JSON-RPC code and our own code of an error."""
    if "error" not in message:
        return message["result"]
    data = message["error"].get("data")
    return message["error"]["code"], data.get("code") if isinstance(data, dict) else None


def refusal(answer: Answer) -> tuple[int, object]:
    return answer.status, answer.json()["error"]["data"]["code"]


def batch(*messages: bytes) -> bytes:
    return b"[" + b",".join(messages) + b"]"


def held(ask: Callable[[bytes], JsonObject], make: Callable[..., bytes], words: str) -> None:
    """Wait until the server has noted this about a held call."""

    def noted() -> bool:
        text = ask(make("story", "story"))["result"]["content"][0]["text"]
        return words in parse_object(text.encode())["result"]

    wait_for(noted)
