"""Failures that an author raises in a prompt, a resource or a completion: JSON-RPC errors in both eras."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire import Conflict, NotFound, Server, ToolError, Unavailable
from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.fault.reading import read_failure
from tests.profiles.mcp.talk import MODERN, OPENING, converse


class Lent(Conflict, code="library/LENT", meaning="The book is lent.", action="Ask when it is due.", retryable=True):
    """The book is lent."""


RAISED: dict[str, Exception] = {
    "missing": NotFound("book 7", action="List the books.", details={"shelf": "B"}),
    "conflict": Conflict("book 7"),
    "down": Unavailable("the catalogue"),
    "failed": ToolError("The scanner is off"),
    "lent": Lent("book 7"),
    "crash": ZeroDivisionError("secret"),
}


def make_server() -> Server:
    server = Server("library", version="1.0.0")

    @server.prompt
    def review(kind: str) -> str:
        raise RAISED[kind]

    @server.resource("books://{kind}")
    def book(kind: str) -> str:
        raise RAISED[kind]

    @server.completion
    def complete(_ref: Any, argument: Any, _context: Any) -> list[str]:
        raise RAISED[argument["value"]]

    return server


def error_of(method: str, params: JsonObject, era: str) -> JsonObject:
    more: JsonObject = {"_meta": MODERN} if era == "modern" else {}
    request = render({"jsonrpc": "2.0", "id": 1, "method": method, "params": params | more})
    messages = [request] if era == "modern" else [render(OPENING), request]
    replies, _records = converse(messages, make_server=make_server)
    error: JsonObject = parse_object(replies[-1].body or b"")["error"]
    return error


EXPECTED: list[tuple[str, int, str, JsonObject]] = [
    (
        "missing",
        -32602,
        "Not found: book 7",
        {"code": "NOT_FOUND", "details": {"shelf": "B"}, "action": "List the books."},
    ),
    ("conflict", -32603, "The state does not allow this: book 7", {"code": "CONFLICT"}),
    ("down", -32603, "A service that the tool needs is not available: the catalogue", {"code": "UNAVAILABLE"}),
    ("failed", -32603, "The scanner is off", {"code": "TOOL_FAILED"}),
    (
        "lent",
        -32603,
        "The book is lent: book 7",
        {"code": "library/LENT", "action": "Ask when it is due.", "retryable": True},
    ),
    ("crash", -32603, "The tool failed", {"code": "TOOL_FAILED"}),
]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(("kind", "number", "message", "data"), EXPECTED, ids=[each[0] for each in EXPECTED])
def test_a_prompt_and_a_completion_answer_with_the_failure_of_the_author(
    kind: str, number: int, message: str, data: JsonObject, era: str
) -> None:
    prompt = error_of("prompts/get", {"name": "review", "arguments": {"kind": kind}}, era)
    argument = {"name": "kind", "value": kind}
    completion = error_of(
        "completion/complete", {"ref": {"type": "ref/prompt", "name": "review"}, "argument": argument}, era
    )

    assert prompt == {"code": number, "message": message, "data": data}
    assert completion == prompt


@pytest.mark.parametrize(("era", "number"), [("legacy", -32002), ("modern", -32602)])
def test_what_a_resource_does_not_find_is_an_unknown_resource(era: str, number: int) -> None:
    error = error_of("resources/read", {"uri": "books://missing"}, era)

    assert error == {
        "code": number,
        "message": "Not found: book 7",
        "data": {
            "code": "RESOURCE_NOT_FOUND",
            "uri": "books://missing",
            "details": {"shelf": "B"},
            "action": "List the books.",
        },
    }


def test_a_client_reads_the_action_and_the_retry_advice_of_the_author() -> None:
    failure = read_failure(error_of("prompts/get", {"name": "review", "arguments": {"kind": "lent"}}, "modern"))

    assert (failure.own_code, failure.action, failure.retryable) == ("library/LENT", "Ask when it is due.", True)
