"""The load must catch a wrong answer: every way in which one can be wrong is refused here."""

from __future__ import annotations

import json

import pytest
from benchmarks.fixture import Question, add_questions, echo_questions, refused_questions
from benchmarks.talk import FIRST_ID, Garbage, Talk, Wire, WrongAnswer, find_problem, render_call

ADD = Question("add", {"a": 1, "b": 2}, {"sum": 3})


def answer(number: object, result: object, *, first: bool = True) -> bytes:
    body = {"id": number, "result": result} if first else {"result": result, "id": number}
    return json.dumps(body, separators=(",", ":")).encode()


def right(question: Question) -> dict[str, object]:
    return {"content": [{"type": "text", "text": "x"}], "structuredContent": question.expected}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"result": right(ADD)}, None),
        ({"result": {**right(ADD), "structuredContent": {"sum": 4}}}, "another result"),
        ({"result": {**right(ADD), "isError": True}}, "no result"),
        ({"result": {**right(ADD), "content": []}}, "no content"),
        ({"error": {"code": -32603}}, "no result"),
        ([], "no result"),
    ],
)
def test_an_answer_is_right_only_if_its_result_is(given: object, problem: str | None) -> None:
    assert find_problem(given, ADD) == problem


def test_a_call_that_must_be_refused_may_not_be_accepted() -> None:
    refused = Question("add", {}, None)
    accepted = find_problem({"result": right(ADD)}, refused)

    assert (accepted, find_problem({"result": {"isError": True}}, refused), find_problem({"error": {}}, refused)) == (
        "a call that must be refused was accepted",
        None,
        None,
    )


@pytest.mark.parametrize("first", [True, False], ids=["id first", "id last"])
def test_answers_seen_before_are_compared_without_being_read(first: bool) -> None:
    talk = Talk([ADD], Wire.MODERN)
    numbers = [talk.ask()[0] for _ in range(3)]

    judged = [talk.judge(answer(number, right(ADD), first=first)) for number in reversed(numbers)]

    assert (judged, talk.read_in_full) == (numbers[::-1], 1)


def test_a_wrong_answer_after_right_ones_is_still_caught() -> None:
    talk = Talk([ADD], Wire.LEGACY)
    first, second = talk.ask()[0], talk.ask()[0]
    talk.judge(answer(first, right(ADD)))

    with pytest.raises(WrongAnswer, match="another result"):
        talk.judge(answer(second, {**right(ADD), "structuredContent": {"sum": 4}}))


def test_the_answer_to_another_question_is_caught() -> None:
    other = Question("add", {"a": 1, "b": 3}, {"sum": 4})
    talk = Talk([ADD, other], Wire.LEGACY)
    numbers = [talk.ask()[0] for _ in range(2)]
    talk.judge(answer(numbers[0], right(ADD)))
    talk.judge(answer(numbers[1], right(other)))

    with pytest.raises(WrongAnswer):
        talk.judge(answer(talk.ask()[0], right(other)))


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"{}", b'{"id":7,"result":{}}', b'{"id":"100000000"}'])
def test_what_is_no_answer_of_ours_is_caught(raw: bytes) -> None:
    with pytest.raises(WrongAnswer):
        Talk([ADD], Wire.LEGACY).judge(raw)


def test_requests_carry_the_envelope_of_their_wire() -> None:
    talk = Talk([ADD], Wire.MODERN)
    number, body = talk.ask()
    request = json.loads(body)
    meta = request["params"].pop("_meta")

    assert request == {
        "jsonrpc": "2.0",
        "id": FIRST_ID,
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1, "b": 2}},
    }
    assert (number, meta["io.modelcontextprotocol/protocolVersion"]) == (FIRST_ID, "2026-07-28")
    assert "_meta" not in json.loads(b"1".join(render_call(ADD, Wire.LEGACY)))["params"]


def test_bytes_that_are_not_json_must_be_answered_with_a_parse_error() -> None:
    garbage = Garbage()
    asked = [garbage.ask()[0] for _ in range(2)]
    judged = [garbage.judge(b'{"error":{"code":-32700}}') for _ in range(2)]

    assert (judged, garbage.read_in_full) == (asked, 1)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(Garbage.BODY)
    with pytest.raises(WrongAnswer):
        garbage.judge(b'{"error":{"code":-32600}}')


def test_questions_fit_or_break_the_schemas_as_they_should() -> None:
    import jsonschema_rs
    from benchmarks.fixture import tools

    by_name = {tool["name"]: tool for tool in tools(5)}
    add = jsonschema_rs.validator_for(by_name["add"]["inputSchema"])
    echo = jsonschema_rs.validator_for(by_name["echo"]["inputSchema"])
    given = jsonschema_rs.validator_for(by_name["echo"]["outputSchema"])

    assert len(by_name) == 5
    assert all(add.is_valid(each.arguments) for each in add_questions())
    assert all(echo.is_valid(each.arguments) and given.is_valid(each.expected) for each in echo_questions())
    assert [len(list(add.iter_errors(each.arguments))) for each in refused_questions()] == [2] * 64
    assert 10_000 < len(json.dumps(echo_questions()[0].arguments, separators=(",", ":"))) < 10_700
    assert len(by_name["echo"]["outputSchema"]["properties"]) == 30
