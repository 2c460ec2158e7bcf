"""Answers to requests of servers: declared only with a handler, checked before they are sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from strictwire.client.questions import Answers, Elicitation, InvalidAnswer, NotAnswered, Sampling

FORM = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
    "required": ["city"],
}
ELICIT = {"message": "Where?", "requestedSchema": FORM}


@dataclass
class Trip:
    city: str


def answered(answers: Answers, method: str, params: dict[str, Any]) -> Any:
    return asyncio.run(answers.answer(method, params))


def test_only_what_has_a_handler_is_declared() -> None:
    assert Answers().capabilities == {}
    assert Answers(on_elicit=lambda _: None, list_roots=list).capabilities == {"elicitation": {}, "roots": {}}


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"city": "Rome"}, {"action": "accept", "content": {"city": "Rome", "days": 3}}),
        ({"city": "Rome", "days": 1}, {"action": "accept", "content": {"city": "Rome", "days": 1}}),
        (Trip("Rome"), {"action": "accept", "content": {"city": "Rome", "days": 3}}),
        (None, {"action": "decline"}),
        ("decline", {"action": "decline"}),
        ("cancel", {"action": "cancel"}),
    ],
)
def test_an_elicitation_is_accepted_declined_or_cancelled(returned: Any, expected: Any) -> None:
    async def on_elicit(asked: Elicitation) -> Any:
        assert (asked.message, asked.schema) == ("Where?", FORM)
        return returned

    assert answered(Answers(on_elicit=on_elicit), "elicitation/create", ELICIT) == expected


@pytest.mark.parametrize(("returned", "reason"), [({}, "/city"), ({"city": 1}, "/city"), (7, "expected a mapping")])
def test_content_that_does_not_match_the_form_is_not_sent(returned: Any, reason: str) -> None:
    with pytest.raises(InvalidAnswer, match=reason):
        answered(Answers(on_elicit=lambda _: returned), "elicitation/create", ELICIT)


def test_sampling_takes_text_or_a_whole_message() -> None:
    params = {"messages": [{"role": "user"}], "maxTokens": 5, "systemPrompt": "s"}
    whole = {"role": "assistant", "content": {"type": "text", "text": "t"}, "model": "m"}

    def on_sample(asked: Sampling) -> Any:
        assert (len(asked.messages), asked.max_tokens, asked.system_prompt) == (1, 5, "s")
        return "t"

    assert answered(Answers(on_sample=on_sample), "sampling/createMessage", params) == {**whole, "model": "client"}
    assert answered(Answers(on_sample=lambda _: whole), "sampling/createMessage", params) == whole
    with pytest.raises(InvalidAnswer):
        answered(Answers(on_sample=lambda _: {"role": "assistant"}), "sampling/createMessage", params)


def test_roots_are_uris_or_mappings() -> None:
    listed = ["file:///a", {"uri": "file:///b", "name": "b"}]

    found = answered(Answers(list_roots=lambda: listed), "roots/list", {})

    assert found == {"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("elicitation/create", ELICIT, -32601),
        ("sampling/createMessage", {}, -32601),
        ("roots/list", {}, -32601),
        ("no/such/method", {}, -32601),
    ],
)
def test_a_request_without_a_handler_is_not_answered(method: str, params: dict[str, Any], code: int) -> None:
    with pytest.raises(NotAnswered) as caught:
        answered(Answers(), method, params)

    assert caught.value.code == code


@pytest.mark.parametrize(
    "params", [{}, {"message": "m"}, {**ELICIT, "mode": "url"}, {"message": "m", "requestedSchema": {"type": 5}}]
)
def test_a_malformed_elicitation_is_not_answered(params: dict[str, Any]) -> None:
    with pytest.raises(NotAnswered) as caught:
        answered(Answers(on_elicit=lambda _: {}), "elicitation/create", params)

    assert caught.value.code == -32602


def test_ping_is_answered() -> None:
    assert answered(Answers(), "ping", {}) == {}
