"""Requests, results and errors of one era, translated to the other."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.gateway.bridges.translation import (
    can_answer,
    client_capabilities,
    server_capabilities,
    to_legacy_answer,
    to_legacy_request,
    to_modern_answer,
    with_meta,
    without_round,
)
from strictwire.gateway.links.link import UpstreamRequest
from strictwire.gateway.links.raw_message import UpstreamAnswer
from tests.fixtures.live import modern

SERVER = {"name": "s", "version": "1"}


def asked(method: str, request_id: int = 1, **params: Any) -> UpstreamRequest:
    return UpstreamRequest(id=request_id, method=method, params=params, raw=b"")


def answered(raw: bytes) -> UpstreamAnswer:
    message = parse_object(raw)
    return UpstreamAnswer(raw=raw, result=message.get("result"), error=message.get("error"), status=200)


def test_capabilities_are_those_declared_without_what_no_bridge_carries() -> None:
    declared = {
        "roots": {"listChanged": True, "x": 1},
        "sampling": {"tools": {}},
        "elicitation": {},
        "experimental": {"e": {}},
        "tasks": {"list": {}},
        "extensions": {"a/b": {}},
        "unknown": {},
    }

    assert client_capabilities(declared) == {
        "roots": {"x": 1},
        "sampling": {"tools": {}},
        "elicitation": {},
        "experimental": {"e": {}},
    }
    assert client_capabilities({"roots": True, "sampling": None}) == {}
    assert server_capabilities({"tools": {"listChanged": True}, "tasks": {}, "logging": {}}) == {
        "tools": {"listChanged": True},
        "logging": {},
    }
    assert server_capabilities("everything") == {}


FORM, PAGE = {"mode": "form"}, {"mode": "url"}


@pytest.mark.parametrize(
    ("capabilities", "method", "params", "expected"),
    [
        ({"elicitation": {}}, "elicitation/create", {}, True),
        ({"elicitation": {}}, "elicitation/create", FORM, True),
        ({"elicitation": {}}, "elicitation/create", PAGE, False),
        ({"elicitation": {"url": {}}}, "elicitation/create", PAGE, True),
        ({"elicitation": {"url": {}}}, "elicitation/create", FORM, False),
        ({"elicitation": {"form": {}}}, "elicitation/create", FORM, True),
        ({"sampling": {}}, "sampling/createMessage", {"messages": []}, True),
        ({"sampling": {}}, "sampling/createMessage", {"tools": []}, False),
        ({"sampling": {"tools": {}}}, "sampling/createMessage", {"tools": []}, True),
        ({"roots": {}}, "roots/list", {}, True),
        ({"roots": True}, "roots/list", {}, False),
        ({"roots": {}}, "sampling/createMessage", {}, False),
        ({"roots": {}, "tasks": {}}, "tasks/get", {}, False),
    ],
)
def test_a_client_is_asked_only_what_it_declared(
    capabilities: dict[str, Any], method: str, params: dict[str, Any], expected: bool
) -> None:
    assert can_answer(capabilities, method, params) is expected


def test_a_legacy_request_drops_stateless_members_and_keeps_all_other_bytes() -> None:
    raw = modern("a", "tools/call", {"name": "x", "arguments": {"n": 1}, "requestState": "s"}, progressToken="t", trace=5)
    raw = raw.replace(b'"n":1', b'"n":1.00')
    question = UpstreamRequest(id="a", method="tools/call", params=parse_object(raw)["params"], raw=raw)

    sent = to_legacy_request(question, "mine-1")

    assert sent.raw == (
        b'{"jsonrpc":"2.0","id":"mine-1","method":"tools/call","params":{"name":"x","arguments":{"n":1.00},'
        b'"_meta":{"progressToken":"mine-1","trace":5}}}'
    )
    assert sent.params == parse_object(sent.raw)["params"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"id":1}', b'{"id":1,"params":{"_meta":{"k":2}}}'),
        (b'{"id":1,"params":{"a":1.0}}', b'{"id":1,"params":{"a":1.0,"_meta":{"k":2}}}'),
        (b'{"id":1,"params":{"_meta":{"k":1,"l":1e1}}}', b'{"id":1,"params":{"_meta":{"k":2,"l":1e1}}}'),
        (b'{"id":1,"params":{"_meta":5}}', b'{"id":1,"params":{"_meta":{"k":2}}}'),
    ],
)
def test_members_of_the_bridge_replace_those_of_the_client(raw: bytes, expected: bytes) -> None:
    assert with_meta(raw, {"k": b"2"}) == expected


def test_members_of_a_round_are_removed() -> None:
    raw = b'{"id":1,"params":{"name":"x","requestState":"s","inputResponses":{}}}'

    assert without_round(raw) == b'{"id":1,"params":{"name":"x"}}'
    assert without_round(b'{"id":1}') == b'{"id":1}'


def test_a_modern_result_has_its_members_and_keeps_all_other_bytes() -> None:
    raw = b'{"jsonrpc":"2.0","id":"mine","result":{"contents":[],"n":1.0,"resultType":"input_required","_meta":{"a":1e1}}}'

    shown = to_modern_answer(answered(raw), asked("resources/read"), SERVER)

    assert shown.raw == (
        b'{"jsonrpc":"2.0","id":1,"result":{"contents":[],"n":1.0,"resultType":"complete",'
        b'"_meta":{"a":1e1,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},"ttlMs":0,"cacheScope":"private"}}'
    )
    assert shown.result is not None
    assert (shown.result["resultType"], shown.status) == ("complete", None)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            {"code": -32002, "message": "m"},
            {"code": -32602, "message": "m", "data": {"uri": "a:1"}},
        ),
        (
            {"code": -32002, "message": "m", "data": {"x": 1}},
            {"code": -32602, "message": "m", "data": {"x": 1, "uri": "a:1"}},
        ),
        ({"code": -32042, "message": "m", "data": {"e": []}}, {"code": -32603, "message": "m", "data": {"e": []}}),
        ({"code": 7, "message": "m"}, {"code": 7, "message": "m"}),
    ],
)
def test_retired_error_codes_are_translated(error: dict[str, Any], expected: dict[str, Any]) -> None:
    answer = UpstreamAnswer(raw=b'{"jsonrpc":"2.0","id":5,"error":{"code":7,"message":"m"}}', error=error)

    shown = to_modern_answer(answer, asked("resources/read", uri="a:1"), SERVER)

    assert (shown.error, parse_object(shown.raw)) == (expected, {"jsonrpc": "2.0", "id": 1, "error": expected})


def test_a_legacy_result_drops_modern_members_and_output_that_is_no_object() -> None:
    raw = (
        b'{"jsonrpc":"2.0","id":9,"result":{"content":[{"n":1.0}],"structuredContent":[1],"resultType":"complete","ttlMs":5,'
        b'"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{}}}}'
    )

    shown = to_legacy_answer(answered(raw), asked("tools/call"))

    assert shown.raw == b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"n":1.0}]}}'
    assert shown.result == parse_object(raw)["result"]


def test_output_schemas_that_sessions_cannot_have_are_left_out_of_a_list() -> None:
    raw = (
        b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","outputSchema":{"type":"object","n":1.0}},'
        b'{"name":"b","outputSchema":{"type":"array"},"x":1e1},{"name":"c"}]}}'
    )

    shown = to_legacy_answer(answered(raw), asked("tools/list"))

    assert shown.raw == raw.replace(b'"outputSchema":{"type":"array"},', b"")


@pytest.mark.parametrize(
    ("method", "data", "code"),
    [("resources/read", {"uri": "a:1"}, -32002), ("resources/read", None, -32602), ("tools/call", {"uri": "a:1"}, -32602)],
)
def test_a_missing_resource_has_the_code_of_its_era(method: str, data: Any, code: int) -> None:
    error = {"code": -32602, "message": "m", **({} if data is None else {"data": data})}
    answer = UpstreamAnswer(raw=b'{"jsonrpc":"2.0","id":1,"error":{}}', error=error)

    shown = to_legacy_answer(answer, asked(method))

    assert shown.error == {**error, "code": code}
