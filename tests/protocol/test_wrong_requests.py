"""Requests that are wrong: unknown methods, malformed parameters, headers that differ from the body."""

from __future__ import annotations

import pytest

from strictwire.canon.json import parse, render
from tests.fixtures.live import HttpProcess, StdioProcess, legacy, modern, modern_headers, request
from tests.protocol.messages import call, modern_call, opened, refusal

pytestmark = pytest.mark.slow

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LEVEL = "io.modelcontextprotocol/logLevel"
VERSION = "io.modelcontextprotocol/protocolVersion"


def test_wrong_requests_of_a_session_are_refused_alike_on_both_transports(
    http: HttpProcess, session: dict[str, str], stdio: StdioProcess
) -> None:
    """Errors ride on HTTP 200 once there is a request."""
    add = {"name": "add", "arguments": {"a": 1, "b": 2}}
    requests = [
        (legacy(1, "nope"), -32601),
        (legacy(1, "server/discover"), -32601),
        (legacy(1, "subscriptions/listen", {"notifications": {}}), -32601),
        (legacy(1, "resources/read", {"uri": "hard://nope"}), -32002),
        (legacy(1, "resources/read", {"uri": 5}), -32602),
        (legacy(1, "prompts/get", {"name": "nope"}), -32602),
        (legacy(1, "tools/call", {"name": "nope"}), -32602),
        (legacy(1, "tools/call", {}), -32602),
        (legacy(1, "tools/call", {"name": "add", "arguments": []}), -32602),
        (legacy(1, "tools/call", {**add, "_meta": 5}), -32602),
        (legacy(1, "tools/call", {**add, "_meta": {"progressToken": 1.5}}), -32602),
        (legacy(1, "tools/call", {**add, "_meta": {"progressToken": {}}}), -32602),
        (legacy(1, "completion/complete", {"ref": {}, "argument": {}}), -32602),
        (legacy(1, "logging/setLevel", {"level": "loud"}), -32602),
        (legacy(1, "logging/setLevel"), -32602),
        (legacy(1, "resources/subscribe"), -32602),
        (legacy(1, "resources/unsubscribe", {"uri": 5}), -32602),
        (legacy(1, "tools/list", {"cursor": "x"}), -32602),
        (legacy(1, "tools/list", {"cursor": 5}), -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
    ]
    unreadable = [
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list"}', -32600),
        (b"[]", -32600),
        (b"{", -32700),
    ]
    expected = [(200, code) for _, code in requests] + [(400, code) for _, code in unreadable]
    messages = [raw for raw, _ in [*requests, *unreadable]]
    answers = [http.post(raw, session) for raw in messages]

    assert [(answer.status, answer.json()["error"]["code"]) for answer in answers] == expected
    assert [stdio.ask(raw) for raw in messages] == [answer.json() for answer in answers]


def test_wrong_requests_of_the_stateless_era_are_refused_alike_on_both_transports(
    http: HttpProcess, stdio: StdioProcess
) -> None:
    add = {"name": "add", "arguments": {"a": 1, "b": 2}}
    cases = [
        (modern(1, "nope"), 404, -32601),
        (modern(1, "nope", {}, **{LEVEL: "loud"}), 404, -32601),
        (modern(1, "ping"), 404, -32601),
        (modern(1, "initialize"), 404, -32601),
        (modern(1, "resources/subscribe", {"uri": "hard://x"}), 404, -32601),
        (modern(1, "tools/list", {}, **{VERSION: "1900-01-01"}), 400, -32022),
        (modern(1, "tools/list", {}, **{CAPABILITIES: []}), 400, -32602),
        (modern(1, "tools/list", {}, **{LEVEL: "loud"}), 400, -32602),
        (modern(1, "tools/list", {"cursor": "x"}), 400, -32602),
        (modern(1, "tools/list", {"cursor": 5}), 400, -32602),
        (modern(1, "tools/call", add, progressToken=1.5), 400, -32602),
        (modern(1, "tools/call", {"name": "add", "arguments": []}), 400, -32602),
        (modern(1, "tools/call", {"name": "nope"}), 400, -32602),
        (modern(1, "tools/call", {**add, "requestState": "x"}), 400, -32602),
        (modern(1, "tools/call", {**add, "inputResponses": 5}), 400, -32602),
        (modern(1, "prompts/get", {"name": "nope"}), 400, -32602),
        (modern(1, "resources/read", {"uri": "hard://nope"}), 400, -32602),
        (modern(1, "subscriptions/listen", {}), 400, -32602),
    ]
    answers = [http.ask(raw, **{"MCP-Protocol-Version": _version_of(raw)}) for raw, _, _ in cases]

    assert [(answer.status, answer.json()["error"]["code"]) for answer in answers] == [each[1:] for each in cases]
    assert [stdio.ask(raw) for raw, _, _ in cases] == [answer.json() for answer in answers]


def _version_of(raw: bytes) -> str:
    message = parse(raw)
    assert isinstance(message, dict)
    return str(message["params"]["_meta"][VERSION])


def test_arguments_that_do_not_conform_are_a_result_of_the_tool(
    http: HttpProcess, session: dict[str, str], stdio: StdioProcess
) -> None:
    raw, stateless = call(1, "add", a="1", b=2), modern_call(1, "add", a="1", b=2)
    answers = [http.post(raw, session).json(), stdio.ask(raw), http.ask(stateless).json(), stdio.ask(stateless)]
    texts = [parse(each["result"]["content"][0]["text"].encode()) for each in answers]

    assert [each["result"]["isError"] for each in answers] == [True] * 4
    assert [each["error"]["code"] for each in texts] == ["INVALID_PARAMS"] * 4  # type: ignore[call-overload,index]


def test_an_answer_to_no_question_is_ignored(http: HttpProcess, session: dict[str, str], fresh: StdioProcess) -> None:
    stray = render({"jsonrpc": "2.0", "id": "strictwire-99", "result": {}})
    opened(fresh).send(stray)

    assert http.post(stray, session).status == 202
    assert fresh.ask(legacy(1, "ping"))["result"] == {}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, {"result": 3}),
        ({"Mcp-Session-Id": "nope", "Last-Event-ID": "1.0"}, {"result": 3}),
        ({"Mcp-Name": "story"}, "HEADER_MISMATCH"),
        ({"Mcp-Name": None}, "HEADER_MISMATCH"),
        ({"Mcp-Method": "tools/list"}, "HEADER_MISMATCH"),
        ({"Mcp-Method": None}, "HEADER_MISMATCH"),
        ({"MCP-Protocol-Version": "2025-11-25"}, "HEADER_MISMATCH"),
        ({"MCP-Protocol-Version": "2031-01-01"}, "HEADER_MISMATCH"),
        ({"MCP-Protocol-Version": None}, "HEADER_MISMATCH"),
    ],
)
def test_headers_must_repeat_the_body(http: HttpProcess, headers: dict[str, str | None], expected: object) -> None:
    raw = modern_call(1, "add", a=1, b=2)
    with http.connect() as connection:
        connection.write(request(raw, {**modern_headers(raw), **headers}, port=http.port))
        answer = connection.answer()

    if isinstance(expected, str):
        assert refusal(answer) == (400, expected)
    else:
        assert answer.json()["result"]["structuredContent"] == expected
        assert answer.headers["Mcp-Session-Id"] is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Mcp-Param-Region": "eu", "Mcp-Param-Limit": "5"}, None),
        ({"Mcp-Param-Region": "eu"}, "HEADER_MISMATCH"),
        ({"Mcp-Param-Region": "us", "Mcp-Param-Limit": "5"}, "HEADER_MISMATCH"),
        ({"Mcp-Param-Region": "eu", "Mcp-Param-Limit": "5", "Mcp-Param-Dry": "true"}, "HEADER_MISMATCH"),
    ],
)
def test_headers_must_repeat_annotated_arguments(http: HttpProcess, headers: dict[str, str], expected: str | None) -> None:
    answer = http.ask(modern_call(1, "mirrored", region="eu", limit=5), **headers)

    if expected is None:
        assert answer.json()["result"]["content"][0]["text"] == "limit, region"
    else:
        assert refusal(answer) == (400, expected)
