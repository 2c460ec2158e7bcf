"""Forms and model answers are validated and typed in both eras, before the tool sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from strictwire import Elicited, Refused
from strictwire.canon.json import render
from tests.fixtures.live import INITIALIZED, StdioProcess, initialize, legacy, modern

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ABLE: dict[str, Any] = {"elicitation": {}, "sampling": {"tools": {}}}

CITY = {"type": "string", "title": "City", "minLength": 1}
DAYS = {"type": "integer", "minimum": 1, "maximum": 30, "description": "Nights away"}
TRIP = {
    "type": "object",
    "properties": {
        "city": CITY,
        "days": {**DAYS, "default": 3},
        "comfort": {"type": "string", "enum": ["budget", "luxury"], "default": "budget"},
        "start": {"type": "string", "format": "date"},
    },
    "required": ["city"],
}


@pytest.fixture(scope="module")
def asking() -> Iterator[StdioProcess]:
    with StdioProcess("asking:server") as process:
        yield process


class Modern:
    """Calls one tool of 2026-07-28 until it is done. Each element of `answers` answers one round."""

    def __init__(self, process: StdioProcess, **capabilities: Any) -> None:
        self._process = process
        self._capabilities = capabilities or ABLE

    def call(self, tool: str, *answers: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        questions = []
        more: dict[str, Any] = {}
        for answer in (*answers, None):
            params = {"name": tool, "arguments": {}, **more}
            response = self._process.ask(modern(1, "tools/call", params, **{CAPABILITIES: self._capabilities}))
            result = response.get("result", response)
            if result.get("resultType") != "input_required":
                break
            questions.append(result["inputRequests"]["trip"]["params"])
            more = {"requestState": result["requestState"], "inputResponses": {"trip": answer}}
        return questions, result


class Legacy:
    """The same in 2025-11-25: the server sends its questions while the call runs."""

    def __init__(self, process: StdioProcess, **capabilities: Any) -> None:
        self._process = process
        process.ask(initialize(capabilities=capabilities or ABLE))
        process.send(INITIALIZED)

    def call(self, tool: str, *answers: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        questions = []
        message = self._process.ask(legacy(1, "tools/call", {"name": tool, "arguments": {}}))
        for answer in answers:
            if "method" not in message:
                break
            questions.append(message["params"])
            message = self._process.ask(render({"jsonrpc": "2.0", "id": message["id"], "result": answer}))
        return questions, message.get("result", message)


eras = pytest.mark.parametrize("era", [Modern, Legacy], ids=["modern", "legacy"])


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


@eras
@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("ask_dataclass", "Trip(city='Bern', days=2, comfort='budget', start=None)"),
        ("ask_typed_dict", "{'city': 'Bern', 'days': 2}"),
        ("ask_struct", "StructTrip(city='Bern', days=2)"),
        ("ask_model_class", "ModelTrip(city='Bern', days=2)"),
    ],
)
def test_an_answer_arrives_as_a_value_of_the_class(asking: StdioProcess, era: Any, tool: str, value: str) -> None:
    questions, result = era(asking).call(tool, accept(city="Bern", days=2, unknown=5))

    assert text_of(result) == value
    assert [set(each["requestedSchema"]["properties"]) >= {"city", "days"} for each in questions] == [True]


@eras
def test_a_single_value_is_asked_for_in_one_field(asking: StdioProcess, era: Any) -> None:
    questions, result = era(asking).call("ask_text", accept(value=5), accept(value="Bern"))

    assert list(questions[0]["requestedSchema"]["properties"]) == ["value"]
    assert (len(questions), text_of(result)) == (2, "Bern")


@eras
def test_the_form_is_made_from_the_class(asking: StdioProcess, era: Any) -> None:
    questions, result = era(asking).call("ask_dataclass", accept(city="Bern", start="2026-05-01", days=7.0))

    assert questions == [{"mode": "form", "message": "Where to?", "requestedSchema": TRIP}]
    assert text_of(result) == "Trip(city='Bern', days=7, comfort='budget', start=datetime.date(2026, 5, 1))"


@eras
@pytest.mark.parametrize(
    ("tool", "wrong", "reason"),
    [
        ("ask_schema", accept(days=500), "days must be at most 30"),
        ("ask_schema", accept(days="x"), "days must be integer, not string"),
        ("ask_schema", accept(), "days is required"),
        ("ask_dataclass", accept(city=""), "city must have a length of at least 1"),
        ("ask_dataclass", accept(city="Bern", comfort="royal"), 'comfort must be one of ["budget","luxury"]'),
        ("ask_dataclass", accept(city="Atlantis"), "it is under water"),
        ("ask_model_class", accept(city="Atlantis"), "it is under water"),
        ("ask_model_class", accept(city="Bern", days=31), "days must be at most 30"),
    ],
)
def test_a_wrong_answer_is_asked_for_again_with_the_reason(
    asking: StdioProcess, era: Any, tool: str, wrong: Any, reason: str
) -> None:
    questions, result = era(asking).call(tool, wrong, accept(city="Bern", days=30))

    assert len(questions) == 2
    assert questions[1]["requestedSchema"] == questions[0]["requestedSchema"]
    assert questions[1]["message"].startswith(f"{questions[0]['message']}\n\nThe last answer was not accepted: ")
    assert reason in questions[1]["message"]
    assert "30" in text_of(result)


@eras
def test_the_third_wrong_answer_fails_the_call(asking: StdioProcess, era: Any) -> None:
    """The tool never sees `{"days": 500}`, however often the client sends it."""
    questions, result = era(asking).call("ask_schema", *[accept(days=500)] * 9)

    assert len(questions) == 3
    assert (result["isError"], result["structuredContent"]["error"]["code"]) == (True, "ANSWER_INVALID")
    assert result["structuredContent"]["error"]["details"]["violations"] == [
        {"path": "/days", "keyword": "maximum", "expected": "30"}
    ]


@eras
@pytest.mark.parametrize("action", [{}, [], {"accept": 1}, None, 5, "ACCEPT"], ids=repr)
def test_an_action_of_the_wrong_type_is_asked_for_again(asking: StdioProcess, era: Any, action: Any) -> None:
    questions, result = era(asking).call("ask_schema", {"action": action, "content": {"days": 30}}, accept(days=30))

    assert (len(questions), "30" in text_of(result)) == (2, True)


@eras
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_declined_form_has_no_content(asking: StdioProcess, era: Any, action: str) -> None:
    _, seen = era(asking).call("ask_dataclass", {"action": action})
    _, unseen = era(asking).call("ask_struct", {"action": action})

    assert text_of(seen) == action
    assert unseen["structuredContent"]["error"]["code"] == "ANSWER_DECLINED"


def test_content_of_a_declined_form_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        _ = Elicited[str](action="decline").content

    assert refused.value.failure.code == "ANSWER_DECLINED"


MESSAGE = {"role": "assistant", "content": {"type": "text", "text": "Bern"}, "model": "m", "stopReason": "endTurn"}
LOOK = {"type": "tool_use", "id": "1", "name": "look", "input": {"at": 1}}


@eras
@pytest.mark.parametrize("content", [MESSAGE["content"], [MESSAGE["content"]]])
def test_an_answer_of_the_model_is_typed(asking: StdioProcess, era: Any, content: Any) -> None:
    _, result = era(asking).call("ask_llm", {**MESSAGE, "content": content})

    assert text_of(result) == "m (endTurn): Bern"


@eras
@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "assistant", "content": {"type": "text", "text": "x"}},
        {**MESSAGE, "role": "system"},
        {**MESSAGE, "role": []},
        {**MESSAGE, "role": {"user": 1}},
        {**MESSAGE, "content": {"type": "text"}},
        {**MESSAGE, "content": {"type": "image", "data": "%%", "mimeType": "image/png"}},
        {**MESSAGE, "content": "x"},
        {**MESSAGE, "content": [LOOK]},
        {**MESSAGE, "stopReason": 5},
    ],
)
def test_a_malformed_answer_of_the_model_fails_the_call_at_once(asking: StdioProcess, era: Any, wrong: Any) -> None:
    questions, result = era(asking).call("ask_llm", wrong, MESSAGE)

    assert len(questions) == 1
    assert result["structuredContent"]["error"]["code"] == "ANSWER_INVALID"


@eras
def test_tools_are_used_only_if_they_were_offered_to_a_client_that_has_them(asking: StdioProcess, era: Any) -> None:
    _, used = era(asking).call("ask_llm_with_tools", {**MESSAGE, "content": [LOOK], "stopReason": "toolUse"})
    _, refused = era(asking, sampling={}).call("ask_llm_with_tools")

    assert text_of(used) == "(ToolUse(id='1', name='look', input={'at': 1}),)"
    assert refused["error"]["data"]["requiredCapabilities"] == {"sampling": {"tools": {}}}
