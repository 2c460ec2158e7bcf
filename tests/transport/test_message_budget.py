"""What one message may cost: bytes, depth and values are limited, so that none takes more than 64 MB."""

from __future__ import annotations

import pytest

from strictwire.canon.json import MAX_BYTES, MAX_VALUES, parse_object
from tests.fixtures.live import StdioProcess, modern, modern_headers, serve_http

pytestmark = pytest.mark.slow

BUDGET = 64 * 1024 * 1024
ROOM = MAX_BYTES - 1000
"""Bytes of a message that are left for its arguments."""

CALL = modern(1, "tools/call", {"name": "say", "arguments": {"text": 0}})
ADD = modern(2, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})


def repeat(piece: bytes) -> bytes:
    """An array of as many pieces as fit into one message."""
    return b"[" + piece + (b"," + piece) * ((ROOM - len(piece)) // (len(piece) + 1)) + b"]"


def tower(height: int, middle: bytes) -> bytes:
    """An array in an array, and so on; the innermost has `middle` in it, again and again."""
    inside = repeat(middle)[: -2 * height].rpartition(b",")[0] + b"]"
    return b"[" * (height - 1) + inside + b"]" * (height - 1)


TOO_MANY = {
    "empty arrays": repeat(b"[]"),
    "empty objects": repeat(b"{}"),
    "small objects": repeat(b'{"":0}'),
    "numbers": repeat(b"0"),
    "texts": repeat(b'"a"'),
    "numbers below 900 brackets": tower(900, b"0"),
    "brackets that never close": b"[" * ROOM,
    "brackets after escapes": rb'["\\\"",' + repeat(b"[]")[1:-20].rpartition(b",")[0] + b"]",
    "values before an error": b"[" + b"{}," * (ROOM // 3 - 1) + b"!]",
}
"""Numbers below 900 brackets take 1.4 GB if the depth is found by indenting the document."""

ACCEPTED = {
    "as many values as allowed": b"[" + b",".join(b'{"%d":{}}' % number for number in range(MAX_VALUES // 3 - 10)) + b"]",
    "one long text": b'"' + b"x" * (ROOM - 2) + b'"',
    "one long text of brackets": b'"' + b"[{," * (ROOM // 3 - 1) + b'"',
    "one long text of quotes": b'"' + rb"\"," * (ROOM // 3 - 1) + b'"',
    "one long text that needs four bytes a character": b'"' + "\U0001f600".encode() + b"x" * (ROOM - 10) + b'"',
    "numbers, 100 levels down": b"[" * 100 + b",".join([b"0.5"] * (MAX_VALUES - 200)) + b"]" * 100,
}
"""Within the limits: read as a message, then judged by the tool."""


def call_with(arguments: bytes) -> bytes:
    return CALL.replace(b'{"text":0}', b'{"text":' + arguments + b"}")


@pytest.mark.parametrize("kind", [*TOO_MANY, *ACCEPTED])
def test_no_message_takes_more_than_its_budget_of_memory(kind: str) -> None:
    with StdioProcess("hard:server") as process:
        process.ask(ADD)
        before = process.memory()

        answer = process.ask(call_with({**TOO_MANY, **ACCEPTED}[kind]))
        taken = process.memory() - before

        assert process.ask(ADD)["result"]["structuredContent"] == {"result": 3}
    refused = (answer["error"]["code"], answer["error"]["data"]["details"]["reason"]) if "error" in answer else None
    assert refused == ((-32600, "too_many_values") if kind in TOO_MANY else None)
    assert taken < BUDGET, f"{kind}: {taken / 1e6:.0f} MB"


def test_a_line_in_tiny_pieces_takes_its_size_and_not_much_more() -> None:
    with StdioProcess("hard:server") as process:
        process.ask(ADD)
        before = process.memory()
        line = call_with(b'"' + b"x" * 500_000 + b'"') + b"\n"
        for start in range(0, len(line), 2):
            process.write(line[start : start + 2])

        assert len(process.receive()["result"]["content"][0]["text"]) == 500_000
        assert process.memory() - before < 16 * 1024 * 1024


def test_too_many_values_are_refused_over_http_as_a_message_that_is_too_large() -> None:
    body = call_with(TOO_MANY["empty arrays"])
    with serve_http("hard:server") as process:
        answer = process.post(body, modern_headers(CALL))

    assert (answer.status, parse_object(answer.body)["error"]["data"]) == (
        413,
        {"code": "REQUEST_TOO_LARGE", "details": {"reason": "too_many_values"}},
    )
