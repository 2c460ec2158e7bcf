"""Which answers of a client are accepted, what is said about the others, and how often a question is put."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Refused, fail
from strictwire.profiles.mcp.answers import ask_until_accepted, check_capabilities, find_answer_fault, with_reason

FORM: JsonObject = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}


def odd(content: JsonObject) -> int:
    if content["n"] % 2 == 0:
        violation = {"path": "/n", "keyword": "validator", "message": "n: it is even"}
        raise Refused(fail("INVALID_PARAMS", details={"violations": [violation]}))
    return int(content["n"])


PLAIN = Ask(method="elicitation/create", params={"mode": "form", "message": "Which?", "requestedSchema": FORM})
TYPED = Ask(method="elicitation/create", params=PLAIN.params, read=odd)
URL = Ask(
    method="elicitation/create", params={"mode": "url", "message": "Sign in", "url": "https://a.b", "elicitationId": "1"}
)
SCHEMALESS = Ask(method="elicitation/create", params={"message": "Which?"})
MODEL = Ask(method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
WITH_TOOLS = Ask(method="sampling/createMessage", params={**MODEL.params, "tools": []})
ROOTS = Ask(method="roots/list", params={})


def accept(**content: Any) -> JsonObject:
    return {"action": "accept", "content": content}


def says(**members: Any) -> JsonObject:
    return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}, **members}


USE = {"type": "tool_use", "id": "1", "name": "t", "input": {}}


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (PLAIN, accept(n=9)),
        (PLAIN, accept(n=9, more=1)),
        (PLAIN, {"action": "decline"}),
        (PLAIN, {"action": "cancel", "content": None}),
        (TYPED, accept(n=3)),
        (URL, {"action": "accept"}),
        (SCHEMALESS, accept(n=100)),
        (MODEL, says()),
        (MODEL, says(stopReason="endTurn", content=[{"type": "audio", "data": "", "mimeType": "audio/wav"}])),
        (WITH_TOOLS, says(content=[USE])),
        (ROOTS, {"roots": []}),
    ],
)
def test_an_answer_is_accepted(ask: Ask, answer: JsonObject) -> None:
    assert find_answer_fault(answer, ask) is None


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (PLAIN, None),
        (PLAIN, []),
        (PLAIN, {"action": "maybe"}),
        (PLAIN, {"action": "accept"}),
        (PLAIN, {"action": "accept", "content": []}),
        (MODEL, {}),
        (MODEL, says(role="system")),
        (MODEL, says(model=5)),
        (MODEL, says(content=[5])),
        (MODEL, says(content={"type": "video"})),
        (MODEL, says(content=[USE])),
        (ROOTS, {"roots": None}),
    ],
)
def test_a_malformed_answer_is_refused(ask: Ask, answer: Any) -> None:
    assert find_answer_fault(answer, ask) == fail("ANSWER_INVALID", details={"reason": "malformed", "method": ask.method})


@pytest.mark.parametrize(
    ("ask", "answer", "reason"),
    [
        (PLAIN, accept(n=10), "n must be at most 9"),
        (PLAIN, accept(n="x"), "n must be integer, not string"),
        (PLAIN, accept(), "n is required"),
        (TYPED, accept(n=4), "n: it is even"),
    ],
)
def test_the_question_that_is_put_again_says_why(ask: Ask, answer: JsonObject, reason: str) -> None:
    fault = find_answer_fault(answer, ask)
    assert fault is not None

    again = with_reason(ask, fault)
    assert again.params["message"] == f"Which?\n\nThe last answer was not accepted: {reason}."
    assert (again.params["requestedSchema"], again.read) == (FORM, ask.read)


@pytest.mark.parametrize(("ask", "answer", "times"), [(PLAIN, accept(n=10), 3), (MODEL, {}, 1), (ROOTS, {}, 1)])
def test_a_question_is_put_a_few_times_and_then_fails(ask: Ask, answer: JsonObject, times: int) -> None:
    put: list[Ask] = []

    async def client(question: Ask) -> JsonObject:
        put.append(question)
        return answer

    with pytest.raises(Refused) as refused:
        asyncio.run(ask_until_accepted(client, ask))
    assert (len(put), refused.value.failure.code) == (times, "ANSWER_INVALID")


@pytest.mark.parametrize(
    ("ask", "capabilities", "missing"),
    [
        (PLAIN, {}, {"elicitation": {}}),
        (MODEL, {"elicitation": {}}, {"sampling": {}}),
        (WITH_TOOLS, {"sampling": {}}, {"sampling": {"tools": {}}}),
        (ROOTS, {"sampling": {}}, {"roots": {}}),
    ],
)
def test_a_client_is_asked_only_what_it_declared(ask: Ask, capabilities: JsonObject, missing: JsonObject) -> None:
    with pytest.raises(Refused) as refused:
        check_capabilities({"key": ask}, capabilities)

    assert refused.value.failure.details == {"requiredCapabilities": missing}
    check_capabilities({"key": ask}, {"elicitation": {}, "sampling": {"tools": {}}, "roots": {}})
