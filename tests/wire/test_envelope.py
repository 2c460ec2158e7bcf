"""JSON-RPC messages: every check of the decoder, and the round trip."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.canon.json import Limits, parse, render
from strictwire.fault.failure import fail
from strictwire.wire.envelope import (
    Notification,
    Request,
    Response,
    Unreadable,
    read_message,
    render_error,
    render_notification,
    render_request,
    render_result,
)


def refused(reason: str, request_id: Any = None) -> Unreadable:
    return Unreadable(fail("NOT_A_REQUEST", details={"reason": reason}), request_id)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"m"}', Request(1, "m", None)),
        (b'{"jsonrpc":"2.0","id":"1","method":"m","params":{"a":1}}', Request("1", "m", {"a": 1})),
        (b'{"jsonrpc":"2.0","id":"","method":"m"}', Request("", "m", None)),
        (b'{"jsonrpc":"2.0","method":"notifications/x"}', Notification("notifications/x", None)),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', Response(1, None, None)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', Response(1, None, {"code": 1})),
        (b"[]", refused("batch")),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m"}]', refused("batch")),
        (b"1", refused("not_an_object")),
        (b"null", refused("not_an_object")),
        (b"{}", refused("jsonrpc")),
        (b'{"id":7,"method":"m"}', refused("jsonrpc", 7)),
        (b'{"jsonrpc":"1.0","id":7,"method":"m"}', refused("jsonrpc", 7)),
        (b'{"jsonrpc":2.0,"id":7,"method":"m"}', refused("jsonrpc", 7)),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', refused("id")),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', refused("id")),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', refused("id")),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"m"}', refused("id")),
        (b'{"jsonrpc":"2.0","id":{},"method":"m"}', refused("id")),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', refused("id")),
        (b'{"jsonrpc":"2.0","id":1}', refused("method", 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":""}', refused("method", 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', refused("method", 1)),
        (b'{"jsonrpc":"2.0","method":"tools/call"}', refused("id_missing")),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","result":1}', refused("request_and_answer", 1)),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', refused("method", 1)),
        (b'{"jsonrpc":"2.0","result":1}', refused("answer")),
        (b'{"jsonrpc":"2.0","id":1,"error":"x"}', refused("answer", 1)),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}',
            Unreadable(fail("MALFORMED_PARAMS", details={"reason": "params_not_an_object"}), 1),
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":null}',
            Unreadable(fail("MALFORMED_PARAMS", details={"reason": "params_not_an_object"}), 1),
        ),
        (b"{x", Unreadable(fail("NOT_JSON", details={"reason": "syntax", "byte": 1}))),
        (b'{"a":1,"a":2}', Unreadable(fail("NOT_JSON", details={"reason": "duplicate_key"}))),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else "",
)
def test_bytes_are_decoded_to_one_message_or_a_failure(raw: bytes, message: object) -> None:
    assert read_message(raw) == message


def test_a_message_above_the_size_limit_has_its_own_code() -> None:
    assert read_message(b"{}", Limits(size=1)) == Unreadable(fail("REQUEST_TOO_LARGE"))


IDS = st.integers() | st.text(st.characters(exclude_categories=("Cs",)))


@given(IDS, st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_an_encoded_message_decodes_to_the_same_message(request_id: Any, method: str) -> None:
    assert read_message(render_request(request_id, method, {"a": 1})) == Request(request_id, method, {"a": 1})
    assert read_message(render_result(request_id, b'{"x":1}')) == Response(request_id, {"x": 1}, None)
    assert read_message(render_error(request_id, {"code": -1})) == Response(request_id, None, {"code": -1})
    name = f"notifications/{method}"
    assert read_message(render_notification(name, {})) == Notification(name, {})


def test_an_unknown_id_is_left_out_of_an_error_response() -> None:
    assert render_error(None, {"code": -32700}) == b'{"jsonrpc":"2.0","error":{"code":-32700}}'


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text("ab"), lambda x: st.lists(x) | st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), x), max_leaves=8))  # fmt: skip
def test_any_json_value_is_classified(value: Any) -> None:
    message = read_message(render(value))

    assert isinstance(message, Request | Notification | Response | Unreadable)
    assert not isinstance(message, Request) or parse(render(message.id)) == value["id"]
