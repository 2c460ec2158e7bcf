"""The same bytes get the same JSON on stdio and over HTTP, exactly once, with the code of the contract's table."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.live import HttpProcess, StdioProcess, modern, modern_headers, request
from tests.transport.malformed import BAD_PARAMS, NOT_A_REQUEST, NOT_JSON

MARK = modern("mark", "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})


def over_both(stdio: StdioProcess, http: HttpProcess, raw: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    """Send to both; check that the answers are alike and alone; the HTTP status and the answer."""
    stdio.send(raw, MARK)
    answers = [stdio.receive(), stdio.receive()]
    assert [each for each in answers if each.get("id") == "mark"] != [], "the server keeps serving"
    (mine,) = [each for each in answers if each.get("id") != "mark"]
    with http.connect() as connection:
        connection.write(request(raw, headers, port=http.port) + request(MARK, modern_headers(MARK), port=http.port))
        answer = connection.answer()
        assert connection.answer().json()["id"] == "mark", "the connection keeps serving"
    assert answer.json() == mine
    return answer.status, mine


VERSION = {"MCP-Protocol-Version": "2026-07-28"}


@pytest.mark.parametrize("raw", NOT_JSON.values(), ids=NOT_JSON)
def test_bytes_that_are_not_strict_json_are_a_parse_error(stdio: StdioProcess, http: HttpProcess, raw: bytes) -> None:
    status, answer = over_both(stdio, http, raw, **VERSION)

    assert (status, answer.get("id"), answer["error"]["code"]) == (400, None, -32700)


@pytest.mark.parametrize(("raw", "request_id"), NOT_A_REQUEST.values(), ids=NOT_A_REQUEST)
def test_json_that_is_no_request_is_an_invalid_request(
    stdio: StdioProcess, http: HttpProcess, raw: bytes, request_id: Any
) -> None:
    status, answer = over_both(stdio, http, raw, **VERSION)

    assert (status, answer.get("id"), answer["error"]["code"]) == (400, request_id, -32600)
    assert ("id" in answer) == (request_id is not None), "the wire schema knows no null id"


@pytest.mark.parametrize("raw", BAD_PARAMS.values(), ids=BAD_PARAMS)
def test_malformed_parameters_are_invalid_params(stdio: StdioProcess, http: HttpProcess, raw: bytes) -> None:
    try:
        headers = modern_headers(raw)
    except AttributeError:
        headers = VERSION
    status, answer = over_both(stdio, http, raw, **headers)

    assert (status, answer["id"], answer["error"]["code"]) == (400, 1, -32602)


@pytest.mark.parametrize(
    "method", ["nope", "initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/get", "Tools/list"]
)
def test_methods_that_the_era_does_not_have_are_not_found(stdio: StdioProcess, http: HttpProcess, method: str) -> None:
    raw = modern("m", method, {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}})
    status, answer = over_both(stdio, http, raw, **modern_headers(raw))

    assert (status, answer["id"], answer["error"]["code"]) == (404, "m", -32601)


def test_a_version_that_is_not_spoken_is_refused_with_those_that_are(stdio: StdioProcess, http: HttpProcess) -> None:
    raw = modern(1, "tools/list", {}, **{"io.modelcontextprotocol/protocolVersion": "1900-01-01"})
    status, answer = over_both(stdio, http, raw, **{**modern_headers(raw), "MCP-Protocol-Version": "1900-01-01"})

    assert (status, answer["error"]["code"]) == (400, -32022)
    assert (answer["error"]["data"]["supported"], answer["error"]["data"]["requested"]) == (["2026-07-28"], "1900-01-01")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add", {"a": "5", "b": 1}),
        ("add", {"a": True, "b": 1}),
        ("add", {"a": 1.5, "b": 1}),
        ("add", {"a": None, "b": 1}),
        ("add", {"a": 1}),
        ("add", {"a": 1, "b": 2, "c": 3}),
        ("steps", {"values": "[1,2]"}),
        ("say", {"text": 5}),
    ],
)
def test_arguments_that_do_not_fit_are_a_result_with_an_error(
    stdio: StdioProcess, http: HttpProcess, name: str, arguments: dict[str, Any]
) -> None:
    """Nothing is coerced, filled in or dropped: `"5"` is not 5, true is not 1."""
    raw = modern(1, "tools/call", {"name": name, "arguments": arguments})
    status, answer = over_both(stdio, http, raw, **modern_headers(raw))

    assert (status, answer["result"]["isError"]) == (200, True)
    assert answer["result"]["structuredContent"]["error"]["code"] == "INVALID_PARAMS"


@pytest.mark.parametrize("name", ["add", "add_in_thread"])
def test_one_point_zero_is_an_integer(stdio: StdioProcess, http: HttpProcess, name: str) -> None:
    raw = modern(1, "tools/call", {"name": name, "arguments": {"a": 1.0, "b": 2}})

    _, answer = over_both(stdio, http, raw, **modern_headers(raw))

    assert answer["result"]["structuredContent"] == {"result": 3}


FAILED = {
    "nan": "OUTPUT_INVALID",
    "surrogate": "OUTPUT_INVALID",
    "nested_surrogate": "OUTPUT_INVALID",
    "address": "OUTPUT_INVALID",
    "raw_bytes": "OUTPUT_INVALID",
    "number_keys": "OUTPUT_INVALID",
    "deep": "OUTPUT_INVALID",
    "not_promised": "OUTPUT_INVALID",
    "leak": "TOOL_FAILED",
    "leave": "TOOL_FAILED",
    "interrupt": "TOOL_FAILED",
    "cancel_itself": "TOOL_FAILED",
    "slow": "TIMEOUT",
    "stubborn": "TIMEOUT",
    "refuse_mcp": "CAP_EXCEEDED",
}


@pytest.mark.parametrize(("name", "code"), FAILED.items())
def test_a_tool_that_fails_is_answered_with_its_code_and_nothing_leaks(
    stdio: StdioProcess, http: HttpProcess, name: str, code: str
) -> None:
    raw = modern(1, "tools/call", {"name": name})
    status, answer = over_both(stdio, http, raw, **modern_headers(raw))

    assert (status, answer["result"]["isError"]) == (200, True)
    assert answer["result"]["structuredContent"]["error"]["code"] == code
    assert not any(secret in str(answer) for secret in ("hunter2", "/srv", "Traceback", "0x7", "RuntimeError"))


LEAKS = {
    "resource": modern(1, "resources/read", {"uri": "hard://leak"}),
    "resource that is no text": modern(1, "resources/read", {"uri": "hard://number"}),
    "prompt": modern(1, "prompts/get", {"name": "leaking_prompt"}),
    "prompt that is no message": modern(1, "prompts/get", {"name": "wrong_prompt"}),
    "completion": modern(
        1, "completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "leak", "value": ""}}
    ),
    "completion that is no text": modern(
        1,
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "numbers", "value": ""}},
    ),
}


@pytest.mark.parametrize("raw", LEAKS.values(), ids=LEAKS)
def test_other_handlers_that_fail_are_internal_errors_and_nothing_leaks(
    stdio: StdioProcess, http: HttpProcess, raw: bytes
) -> None:
    _, answer = over_both(stdio, http, raw, **modern_headers(raw))

    assert answer["error"]["code"] == -32603
    assert "hunter2" not in str(answer)


def test_every_dialect_travels_as_the_table_says(stdio: StdioProcess, http: HttpProcess) -> None:
    def refuse(dialect: str) -> dict[str, Any]:
        raw = modern(1, "tools/call", {"name": f"refuse_{dialect}"})
        return over_both(stdio, http, raw, **modern_headers(raw))[1] if dialect != "system_1_0" else stdio.ask(raw)

    resolve, system, error = refuse("resolve_v0"), refuse("system_1_0"), refuse("mcp_v1")

    assert resolve["result"]["structuredContent"] == {"error": {"code": "internal_error", "message": "Internal error"}}
    assert (system["result"]["structuredContent"]["error_code"], system["result"]["isError"]) == ("FILE_NOT_FOUND", True)
    assert (error["error"]["code"], error["error"]["data"]["code"]) == (-32603, "CAP_EXCEEDED")


def test_answers_match_their_ids_whatever_the_ids_are(stdio: StdioProcess, http: HttpProcess) -> None:
    for request_id in (0, -1, 2**63, 10**30, "", "1", "é", "\U0001f600", " ", "a" * 10_000):
        raw = modern(request_id, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
        _, answer = over_both(stdio, http, raw, **modern_headers(raw))

        assert answer["id"] == request_id
        assert type(answer["id"]) is type(request_id)
