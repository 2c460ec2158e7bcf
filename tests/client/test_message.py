"""Messages of the client and the reading of responses, without a connection."""

from __future__ import annotations

import pytest

from strictwire.client.errors import NotUnderstood
from strictwire.client.message import (
    META,
    Identity,
    RemoteError,
    Result,
    header_value,
    id_key,
    modern_headers,
    modern_params,
    parse_message,
    read_reply,
)


def test_modern_params_add_to_meta_and_keep_the_members_of_the_caller() -> None:
    params = modern_params({"name": "t", "_meta": {"progressToken": 1}}, Identity(name="c", version="2"))

    assert params == {
        "name": "t",
        "_meta": {
            f"{META}protocolVersion": "2026-07-28",
            f"{META}clientCapabilities": {},
            f"{META}clientInfo": {"name": "c", "version": "2"},
            "progressToken": 1,
        },
    }


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("tools/list", {}, {}),
        ("tools/call", {"name": "add"}, {"Mcp-Name": "add"}),
        ("prompts/get", {"name": "p"}, {"Mcp-Name": "p"}),
        ("resources/read", {"uri": "a://b", "name": "no"}, {"Mcp-Name": "a://b"}),
    ],
)
def test_modern_headers_repeat_members_of_the_body(method: str, params: dict[str, str], expected: dict[str, str]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    assert modern_headers(message) == {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **expected}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain name", "plain name"),
        (" outer", "=?base64?IG91dGVy?="),
        ("caf\u00e9", "=?base64?Y2Fmw6k=?="),
        ("", "=?base64??="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ],
)
def test_a_text_that_a_header_cannot_carry_is_base64_encoded(text: str, value: str) -> None:
    assert header_value(text) == value


def test_ids_of_different_types_have_different_keys() -> None:
    assert id_key(1) != id_key("1")
    assert [id_key(value) for value in (None, True, 1.5, {}, [])] == [None] * 5


def test_a_reply_is_a_result_or_an_error() -> None:
    error = {"code": -32601, "message": "m", "data": {"a": 1}}

    assert read_reply({"result": {"a": 1}}, b"r") == Result(value={"a": 1}, raw=b"r")
    assert read_reply({"error": error}, b"e") == RemoteError(code=-32601, message="m", data={"a": 1}, raw=b"e")


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"result": 1},
        {"result": {}, "error": {"code": 1, "message": ""}},
        {"error": {"code": True, "message": ""}},
        {"error": {"code": 1}},
    ],
)
def test_any_other_response_is_not_understood(message: dict[str, object]) -> None:
    with pytest.raises(NotUnderstood):
        read_reply(message, b"")


def test_a_message_that_is_not_strict_json_is_not_understood() -> None:
    with pytest.raises(NotUnderstood, match="duplicate key"):
        parse_message(b'{"a":1,"a":2}')
