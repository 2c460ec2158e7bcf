"""The load generator detects every kind of wrong response."""

from __future__ import annotations

import json

import pytest
from benchmarks.fixture import ExpectedCall, add_calls, echo_calls, refused_calls
from benchmarks.messages import FIRST_ID, CallStream, MalformedStream, Revision, WrongResponse, find_problem, render_call

ADD = ExpectedCall("add", {"a": 1, "b": 2}, {"sum": 3})


def answer(number: object, result: object, *, first: bool = True) -> bytes:
    body = {"id": number, "result": result} if first else {"result": result, "id": number}
    return json.dumps(body, separators=(",", ":")).encode()


def right(call: ExpectedCall) -> dict[str, object]:
    return {"content": [{"type": "text", "text": "x"}], "structuredContent": call.expected}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"result": right(ADD)}, None),
        ({"result": {**right(ADD), "structuredContent": {"sum": 4}}}, "unexpected result"),
        ({"result": {**right(ADD), "isError": True}}, "no result"),
        ({"result": {**right(ADD), "content": []}}, "no content"),
        ({"error": {"code": -32603}}, "no result"),
        ([], "no result"),
    ],
)
def test_a_response_is_right_only_if_its_result_is(given: object, problem: str | None) -> None:
    assert find_problem(given, ADD) == problem


def test_accepting_a_call_that_must_be_refused_is_wrong() -> None:
    refused = ExpectedCall("add", {}, None)
    accepted = find_problem({"result": right(ADD)}, refused)

    assert (accepted, find_problem({"result": {"isError": True}}, refused), find_problem({"error": {}}, refused)) == (
        "a call that must be refused was accepted",
        None,
        None,
    )


@pytest.mark.parametrize("first", [True, False], ids=["id first", "id last"])
def test_repeated_responses_are_compared_without_parsing(first: bool) -> None:
    stream = CallStream([ADD], Revision.MODERN)
    numbers = [stream.next_request()[0] for _ in range(3)]

    judged = [stream.check(answer(number, right(ADD), first=first)) for number in reversed(numbers)]

    assert (judged, stream.parsed) == (numbers[::-1], 1)


def test_a_wrong_response_after_correct_ones_is_detected() -> None:
    stream = CallStream([ADD], Revision.LEGACY)
    first, second = stream.next_request()[0], stream.next_request()[0]
    stream.check(answer(first, right(ADD)))

    with pytest.raises(WrongResponse, match="unexpected result"):
        stream.check(answer(second, {**right(ADD), "structuredContent": {"sum": 4}}))


def test_the_response_to_another_call_is_detected() -> None:
    other = ExpectedCall("add", {"a": 1, "b": 3}, {"sum": 4})
    stream = CallStream([ADD, other], Revision.LEGACY)
    numbers = [stream.next_request()[0] for _ in range(2)]
    stream.check(answer(numbers[0], right(ADD)))
    stream.check(answer(numbers[1], right(other)))

    with pytest.raises(WrongResponse):
        stream.check(answer(stream.next_request()[0], right(other)))


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"{}", b'{"id":7,"result":{}}', b'{"id":"100000000"}'])
def test_a_response_without_a_known_id_is_detected(raw: bytes) -> None:
    with pytest.raises(WrongResponse):
        CallStream([ADD], Revision.LEGACY).check(raw)


def test_requests_have_the_envelope_of_their_revision() -> None:
    stream = CallStream([ADD], Revision.MODERN)
    number, body = stream.next_request()
    request = json.loads(body)
    meta = request["params"].pop("_meta")

    assert request == {
        "jsonrpc": "2.0",
        "id": FIRST_ID,
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1, "b": 2}},
    }
    assert (number, meta["io.modelcontextprotocol/protocolVersion"]) == (FIRST_ID, "2026-07-28")
    assert "_meta" not in json.loads(b"1".join(render_call(ADD, Revision.LEGACY)))["params"]


def test_malformed_bytes_must_get_a_parse_error() -> None:
    garbage = MalformedStream()
    asked = [garbage.next_request()[0] for _ in range(2)]
    judged = [garbage.check(b'{"error":{"code":-32700}}') for _ in range(2)]

    assert (judged, garbage.parsed) == (asked, 1)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(MalformedStream.BODY)
    with pytest.raises(WrongResponse):
        garbage.check(b'{"error":{"code":-32600}}')


def test_expected_calls_conform_to_or_violate_the_schemas_as_intended() -> None:
    import jsonschema_rs
    from benchmarks.fixture import tools

    by_name = {tool["name"]: tool for tool in tools(5)}
    add = jsonschema_rs.validator_for(by_name["add"]["inputSchema"])
    echo = jsonschema_rs.validator_for(by_name["echo"]["inputSchema"])
    given = jsonschema_rs.validator_for(by_name["echo"]["outputSchema"])

    assert len(by_name) == 5
    assert all(add.is_valid(each.arguments) for each in add_calls())
    assert all(echo.is_valid(each.arguments) and given.is_valid(each.expected) for each in echo_calls())
    assert [len(list(add.iter_errors(each.arguments))) for each in refused_calls()] == [2] * 64
    assert 10_000 < len(json.dumps(echo_calls()[0].arguments, separators=(",", ":"))) < 10_700
    assert len(by_name["echo"]["outputSchema"]["properties"]) == 30
