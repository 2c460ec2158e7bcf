"""2024-11-05 to 2025-11-25 with our own tools: what a session remembers, and questions to the client."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse, render
from strictwire.profiles.mcp.context import summarise_capabilities
from strictwire.profiles.mcp.endpoint import MAX_BATCH
from tests.fixtures.live import (
    INITIALIZED,
    HttpProcess,
    StdioProcess,
    initialize,
    legacy,
    request,
)

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def call(request_id: object, name: str, /, **arguments: Any) -> bytes:
    return legacy(request_id, "tools/call", {"name": name, "arguments": arguments})


def opened(process: StdioProcess, revision: str = "2025-11-25", **capabilities: Any) -> StdioProcess:
    assert process.ask(initialize(revision, capabilities))["id"] == "init"
    process.send(INITIALIZED)
    return process


def reply(request_id: object, result: Any) -> bytes:
    return render({"jsonrpc": "2.0", "id": request_id, "result": result})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("asked", "spoken"), [*((each, each) for each in REVISIONS), ("2026-07-28", "2025-11-25"), ("1.0", "2025-11-25")]
)
def test_the_revision_asked_for_is_spoken_or_the_latest_of_the_era(stdio: StdioProcess, asked: str, spoken: str) -> None:
    result = stdio.ask(initialize(asked))["result"]

    assert result["protocolVersion"] == spoken
    assert (result["serverInfo"], result["instructions"]) == ({"name": "hard", "version": "1.0.0"}, "Handle with care.")
    assert ("completions" in result["capabilities"]) is (spoken != "2024-11-05")


def test_results_carry_no_stamps_of_the_later_era(stdio: StdioProcess) -> None:
    opened(stdio)

    assert stdio.ask(call(1, "add", a=1, b=2))["result"] == {
        "content": [{"type": "text", "text": '{"result":3}'}],
        "structuredContent": {"result": 3},
    }
    assert stdio.ask(legacy(1, "prompts/list"))["result"].keys() == {"prompts"}
    assert stdio.ask(legacy(1, "resources/read", {"uri": "hard://watched/x"}))["result"].keys() == {"contents"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_structured_content_exists_since_2025_06_18(fresh: StdioProcess, revision: str) -> None:
    opened(fresh, revision)
    result = fresh.ask(call(1, "add", a=1, b=2))["result"]
    tools = {tool["name"]: tool for tool in fresh.ask(legacy(2, "tools/list"))["result"]["tools"]}

    assert ("structuredContent" in result) is ("outputSchema" in tools["add"]) is (revision >= "2025-06-18")
    assert result["content"] == [{"type": "text", "text": '{"result":3}'}]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_failure_of_a_tool_with_an_output_schema_travels_as_text(fresh: StdioProcess, revision: str) -> None:
    """The TypeScript client of this era throws a result away whose structured content breaks the schema, failed or not."""
    result = opened(fresh, revision).ask(call(1, "refuse_mcp"))["result"]

    assert (result["isError"], "structuredContent" in result) == (True, False)
    assert parse(result["content"][0]["text"].encode())["error"]["code"] == "CAP_EXCEEDED"  # type: ignore[call-overload,index]


def test_a_failure_of_a_tool_without_one_is_structured_too(stdio: StdioProcess) -> None:
    result = opened(stdio).ask(call(1, "leak"))["result"]

    assert parse(result["content"][0]["text"].encode()) == result["structuredContent"]


def test_the_level_of_a_session_is_remembered(fresh: StdioProcess) -> None:
    opened(fresh)
    fresh.send(call(1, "log_all"))
    by_default = [fresh.receive() for _ in range(8)]
    assert fresh.ask(legacy(2, "logging/setLevel", {"level": "alert"}))["result"] == {}
    fresh.send(call(3, "log_all"))
    later = [fresh.receive() for _ in range(3)]

    assert by_default[0]["params"]["level"] == "info"
    assert [each["params"]["level"] for each in later[:2]] == ["alert", "emergency"]


def test_what_is_subscribed_to_is_told_until_it_is_not(fresh: StdioProcess) -> None:
    opened(fresh)
    uri = "hard://watched/a"
    assert fresh.ask(legacy(1, "resources/subscribe", {"uri": uri}))["result"] == {}
    fresh.send(call(2, "change_resource", uri=uri))
    told = [fresh.receive(), fresh.receive()]
    assert fresh.ask(legacy(3, "resources/unsubscribe", {"uri": uri}))["result"] == {}

    assert {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}} in told
    assert fresh.ask(call(4, "change_resource", uri=uri))["id"] == 4


# Questions.


def test_a_question_is_answered_while_the_tool_waits(fresh: StdioProcess) -> None:
    opened(fresh, elicitation={})
    first = fresh.ask(call(1, "ask_name", greeting="Hi"))
    second = fresh.ask(reply(first["id"], {"action": "accept", "content": {"name": "Ann"}}))
    answer = fresh.ask(reply(second["id"], {"action": "decline"}))

    assert (first["method"], first["params"]["message"], second["params"]["message"]) == (
        "elicitation/create", "First name?", "Last name?",
    )  # fmt: skip
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, "Hi Ann None")


@pytest.mark.slow
@pytest.mark.parametrize("result", [{}, [], None, "x", {"action": 5}])
def test_nonsense_from_the_client_fails_the_tool_and_nothing_else(fresh: StdioProcess, result: Any) -> None:
    opened(fresh, elicitation={}, sampling={}, roots={})
    question = fresh.ask(call(1, "ask_model", prompt="x"))
    answer = fresh.ask(reply(question["id"], result))

    assert (answer["id"], answer["result"]["isError"]) == (1, True)
    assert fresh.ask(legacy(2, "ping"))["result"] == {}


def test_an_error_from_the_client_fails_the_tool_without_its_text(fresh: StdioProcess) -> None:
    opened(fresh, elicitation={})
    question = fresh.ask(call(1, "ask_name", greeting="Hi"))
    error = {"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "hunter2"}}
    answer = fresh.ask(render(error))

    assert answer["result"]["isError"] is True
    assert "hunter2" not in str(answer)


def test_a_client_that_cannot_answer_is_not_asked(fresh: StdioProcess) -> None:
    error = opened(fresh).ask(call(1, "ask_name", greeting="Hi"))["error"]

    assert error["data"]["requiredCapabilities"] == {"elicitation": {}}


def test_stray_answers_are_passed_over(fresh: StdioProcess) -> None:
    opened(fresh, elicitation={})
    question = fresh.ask(call(1, "ask_name", greeting="Hi"))
    fresh.send(reply("nobody", {}), reply(1, {}), reply(f"{question['id']}x", {}))

    assert fresh.ask(legacy(2, "ping")) == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_tool_that_waits_for_an_answer_can_be_cancelled(fresh: StdioProcess) -> None:
    opened(fresh, elicitation={})
    question = fresh.ask(call(1, "ask_name", greeting="Hi"))
    fresh.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    fresh.send(reply(question["id"], {"action": "cancel"}))

    assert fresh.ask(legacy(1, "ping")) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_an_answer_from_another_session_is_not_taken(http: HttpProcess) -> None:
    mine, other = http.open_session(capabilities={"elicitation": {}}), http.open_session(capabilities={"elicitation": {}})
    with http.connect() as connection:
        connection.write(request(call(1, "ask_name", greeting="Hi"), mine, port=http.port))
        response = connection.open_answer()
        question = parse([response.readline() for _ in range(8)][6][6:])
        assert isinstance(question, dict)
        stolen = reply(question["id"], {"action": "accept", "content": {"name": "Eve"}})
        assert http.post(stolen, other).status == 202
        assert http.post(reply(question["id"], {"action": "cancel"}), mine).status == 202
        second = parse([response.readline() for _ in range(4)][2][6:])
        assert isinstance(second, dict)
        assert http.post(reply(second["id"], {"action": "cancel"}), mine).status == 202

        assert b"Hi None None" in response.read()


# Session ids.


def test_session_ids_cannot_be_guessed(http: HttpProcess) -> None:
    ids = {http.open_session()["Mcp-Session-Id"] for _ in range(20)}

    assert len(ids) == 20
    assert all(len(each) >= 32 and each.isascii() and each.isprintable() and " " not in each for each in ids)


# What a session remembers of its client.


def test_an_initialize_larger_than_any_real_one_is_refused(http: HttpProcess) -> None:
    answer = http.post(initialize(capabilities={"experimental": {"x": "y" * 20_000}}))

    assert answer.json()["error"]["data"] == {"code": "REQUEST_TOO_LARGE", "details": {"limitBytes": 16384}}
    assert "Mcp-Session-Id" not in answer.headers


def test_a_session_keeps_the_names_of_capabilities_and_nothing_else() -> None:
    declared = {"elicitation": {"form": {}, "url": {"deep": ["x"]}}, "roots": True, "x" * 100: {}}
    many = {f"c{number}": {f"m{member}": [[[]]] for member in range(100)} for number in range(100)}

    assert summarise_capabilities(declared) == {"elicitation": {"form": True, "url": True}, "roots": {}}
    assert sum(len(members) for members in summarise_capabilities(many).values()) == 32 * 32  # type: ignore[arg-type, misc]
    assert summarise_capabilities(["roots"]) == {}


def test_a_thousand_sessions_of_large_capabilities_take_little_memory(http: HttpProcess) -> None:
    capabilities = {"experimental": {"x": [[]] * 4000}, "elicitation": {}}
    before = resident(http)
    for _ in range(1000):
        assert http.post(initialize(capabilities=capabilities)).status == 200

    assert resident(http) - before < 64 * 1024 * 1024


def resident(process: HttpProcess) -> int:
    return int(Path(f"/proc/{process.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_uri_that_is_longer_than_any_is_not_subscribed_to(stdio: StdioProcess) -> None:
    stdio.ask(initialize())
    answer = stdio.ask(legacy(1, "resources/subscribe", {"uri": "hard://" + "x" * 3000}))

    assert answer["error"]["code"] == -32602


def test_a_batch_of_more_messages_than_allowed_is_refused(http: HttpProcess) -> None:
    headers = http.open_session("2025-03-26")
    pings = [legacy(number, "ping") for number in range(MAX_BATCH + 1)]

    assert http.post(b"[" + b",".join(pings[:-1]) + b"]", headers).body.count(b'"result"') == MAX_BATCH
    assert http.post(b"[" + b",".join(pings) + b"]", headers).json()["error"]["data"]["details"] == {"reason": "batch"}
