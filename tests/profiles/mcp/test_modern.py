"""2026-07-28: nothing is remembered, results are stamped, questions end the round, subscriptions hear what they asked."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.wire.session import MAX_IN_FLIGHT
from tests.fixtures.live import META, HttpProcess, StdioProcess, modern, modern_headers, request

SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "hard", "version": "1.0.0"}}
LEVEL = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def call(name: str, /, _id: object = 1, **arguments: Any) -> bytes:
    return modern(_id, "tools/call", {"name": name, "arguments": arguments})


def test_discovery_names_what_is_offered_and_nothing_else(stdio: StdioProcess) -> None:
    assert stdio.ask(modern(1, "server/discover"))["result"] == {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        },
        "instructions": "Handle with care.",
        "ttlMs": 3_600_000,
        "cacheScope": "public",
        "resultType": "complete",
        "_meta": SERVER,
    }


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
def test_lists_say_how_long_they_hold(stdio: StdioProcess, method: str) -> None:
    result = stdio.ask(modern(1, method))["result"]

    assert (result["resultType"], result["ttlMs"], result["cacheScope"], result["_meta"]) == (
        "complete", 60_000, "public", SERVER,
    )  # fmt: skip


def test_a_resource_says_that_it_must_not_be_kept(stdio: StdioProcess) -> None:
    result = stdio.ask(modern(1, "resources/read", {"uri": "hard://watched/x"}))["result"]

    assert result == {
        "contents": [{"uri": "hard://watched/x", "mimeType": "text/plain", "text": "x"}],
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": SERVER,
    }


def test_a_missing_resource_is_named(stdio: StdioProcess) -> None:
    error = stdio.ask(modern(1, "resources/read", {"uri": "hard://nope"}))["error"]

    assert (error["code"], error["data"]["uri"]) == (-32602, "hard://nope")


def test_a_template_fills_one_segment(stdio: StdioProcess) -> None:
    for uri in ("hard://watched/", "hard://watched/a/b", "hard://watched/a?b", "hard://watched/a#b"):
        assert stdio.ask(modern(1, "resources/read", {"uri": uri}))["error"]["code"] == -32602


@pytest.mark.parametrize("missing", [*META, "_meta", "params"])
def test_each_required_member_of_meta_is_required(stdio: StdioProcess, http: HttpProcess, missing: str) -> None:
    message = parse_object(modern(1, "tools/list"))
    if missing == "params":
        del message["params"]
    elif missing == "_meta":
        del message["params"]["_meta"]
    else:
        del message["params"]["_meta"][missing]
    raw = render(message)
    answer = http.post(raw, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})

    assert (answer.status, answer.json()["error"]["code"]) == (400, -32602)
    if missing.endswith("clientCapabilities"):
        assert stdio.ask(raw) == answer.json()


def test_client_info_may_be_absent_or_present(stdio: StdioProcess) -> None:
    raw = modern(1, "tools/list", {}, **{"io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"}})

    assert "result" in stdio.ask(raw)


def test_the_ladder_stops_at_its_first_rung(http: HttpProcess) -> None:
    """`_meta`, headers, version, method, parameters."""
    old = modern(1, "nope", {}, **{"io.modelcontextprotocol/protocolVersion": "1900-01-01", LEVEL: "loud"})
    headers = {"MCP-Protocol-Version": "1900-01-01", "Mcp-Method": "wrong"}
    codes = [http.post(old, headers).json()["error"]["code"]]
    codes.append(http.post(old, {**headers, "Mcp-Method": "nope"}).json()["error"]["code"])
    newer = modern(1, "nope", {}, **{LEVEL: "loud"})
    codes.append(http.ask(newer).json()["error"]["code"])
    codes.append(http.ask(modern(1, "tools/list", {}, **{LEVEL: "loud"})).json()["error"]["code"])

    assert codes == [-32020, -32022, -32601, -32602]


# Progress and logs.


@pytest.mark.parametrize("token", ["t", 5, 0, ""])
def test_progress_carries_the_token_as_it_came_and_only_grows(stdio: StdioProcess, token: Any) -> None:
    stdio.send(modern(1, "tools/call", {"name": "steps", "arguments": {"values": [0, 1, 1, 0.5, 2]}}, progressToken=token))
    told = [stdio.receive() for _ in range(4)]

    assert [each["params"]["progress"] for each in told[:3]] == [0, 1, 2]
    assert {each["params"]["progressToken"] for each in told[:3]} == {token}
    assert told[3]["id"] == 1


def test_without_a_token_or_a_level_there_is_only_the_answer(stdio: StdioProcess) -> None:
    assert stdio.ask(call("steps", values=[1, 2]))["result"]["structuredContent"] == {"result": 2}
    assert stdio.ask(call("log_all"))["id"] == 1


LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


@pytest.mark.parametrize("rank", range(8))
def test_logs_come_at_the_level_asked_for_and_above(stdio: StdioProcess, rank: int) -> None:
    stdio.send(modern(1, "tools/call", {"name": "log_all"}, **{LEVEL: LEVELS[rank]}))
    told = [stdio.receive() for _ in range(8 - rank)]

    assert [each["params"] for each in told] == [
        {"level": level, "data": {"level": level}, "logger": "hard"} for level in LEVELS[rank:]
    ]
    assert stdio.receive()["id"] == 1


@pytest.mark.parametrize("data", ["nan", "object", "surrogate", "level", "progress"])
def test_what_cannot_be_told_fails_the_call_instead_of_being_bent(stdio: StdioProcess, data: str) -> None:
    meta = {LEVEL: "debug", "progressToken": "t"}
    answer = stdio.ask(modern(1, "tools/call", {"name": "log_badly", "arguments": {"data": data}}, **meta))

    assert answer["result"]["structuredContent"]["error"]["code"] == "TOOL_FAILED"


# Questions.

CAN = {CAPABILITIES: {"elicitation": {}}}


def ask(stdio: StdioProcess, /, capable: bool = True, greeting: str = "Hi", **params: Any) -> dict[str, Any]:
    given = {"name": "ask_name", "arguments": {"greeting": greeting}, **params}
    return stdio.ask(modern(1, "tools/call", given, **(CAN if capable else {})))


def name(text: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"name": text}}


def test_questions_end_the_round_and_answers_of_earlier_rounds_are_kept_in_the_state(stdio: StdioProcess) -> None:
    first = ask(stdio)["result"]
    second = ask(stdio, requestState=first["requestState"], inputResponses={"first": name("Ann")})["result"]
    third = ask(stdio, requestState=second["requestState"], inputResponses={"last": name("Lee")})["result"]

    assert (first["resultType"], list(first["inputRequests"])) == ("input_required", ["first"])
    assert first["inputRequests"]["first"]["method"] == "elicitation/create"
    assert "ttlMs" not in first
    assert (second["resultType"], list(second["inputRequests"])) == ("input_required", ["last"])
    assert (third["resultType"], third["content"][0]["text"]) == ("complete", "Hi Ann Lee")


def test_answers_may_all_come_at_once_without_state(stdio: StdioProcess) -> None:
    result = ask(stdio, inputResponses={"first": name("Ann"), "last": name("Lee"), "unknown": {}})["result"]

    assert result["content"][0]["text"] == "Hi Ann Lee"


@pytest.mark.parametrize(
    "answer", [None, 5, [], {}, {"action": "maybe"}, {"action": "accept"}, {"action": "accept", "content": 5}]
)
def test_an_unusable_answer_is_asked_for_again(stdio: StdioProcess, answer: Any) -> None:
    result = ask(stdio, inputResponses={"first": answer})["result"]

    assert list(result["inputRequests"]) == ["first"]


@pytest.mark.parametrize(
    "tamper",
    [
        lambda s: s + "-TAMPERED",
        lambda s: s[:-4],
        lambda s: ("A" if s[0] != "A" else "B") + s[1:],
        lambda _: "",
        lambda _: 5,
    ],
)
def test_a_state_that_was_altered_is_refused(stdio: StdioProcess, tamper: Any) -> None:
    state = ask(stdio)["result"]["requestState"]
    answer = ask(stdio, requestState=tamper(state), inputResponses={"first": name("Ann")})

    assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32602, "STATE_REJECTED")


def test_a_state_of_another_request_is_refused(stdio: StdioProcess) -> None:
    state = ask(stdio)["result"]["requestState"]

    assert ask(stdio, greeting="Bye", requestState=state)["error"]["data"]["code"] == "STATE_REJECTED"


def test_a_client_that_cannot_answer_is_not_asked(stdio: StdioProcess, http: HttpProcess) -> None:
    error = ask(stdio, capable=False)["error"]
    answer = http.ask(modern(1, "tools/call", {"name": "ask_name", "arguments": {"greeting": "x"}}))

    assert (error["code"], error["data"]["requiredCapabilities"]) == (-32021, {"elicitation": {}})
    assert (answer.status, answer.json()["error"]) == (400, error)


# Subscriptions.


def listen(request_id: object, **wanted: Any) -> bytes:
    return modern(request_id, "subscriptions/listen", {"notifications": wanted})


def test_a_subscription_is_acknowledged_first_and_hears_only_what_it_asked_for(fresh: StdioProcess) -> None:
    acknowledged = fresh.ask(listen(7, toolsListChanged=True, resourceSubscriptions=["hard://watched/a", 5], nonsense=True))
    fresh.send(
        call("change_prompts", 1),
        call("change_resource", 2, uri="hard://watched/b"),
        call("change_resource", 3, uri="hard://watched/a"),
        call("change_tools", 4),
    )
    told = [fresh.receive() for _ in range(7)]
    heard = [each for each in told if "id" not in each]

    assert acknowledged == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": {SUBSCRIPTION: 7},
            "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["hard://watched/a"]},
        },
    }
    assert sorted(each["method"] for each in heard) == [
        "notifications/resources/updated",
        "notifications/tools/list_changed",
        "notifications/tools/list_changed",
    ]
    assert {each["params"]["_meta"][SUBSCRIPTION] for each in heard} == {7}
    assert all(type(each["params"]["_meta"][SUBSCRIPTION]) is int for each in heard)


def test_subscriptions_share_one_channel_and_are_told_apart(fresh: StdioProcess) -> None:
    fresh.send(listen("a", toolsListChanged=True), listen("b", promptsListChanged=True), listen("c"))
    assert {fresh.receive()["params"]["_meta"][SUBSCRIPTION] for _ in range(3)} == {"a", "b", "c"}
    fresh.send(call("change_tools", "tools"), call("change_prompts", "prompts"))
    heard = [each for each in (fresh.receive() for _ in range(6)) if "id" not in each]

    assert {(each["params"]["_meta"][SUBSCRIPTION], each["method"]) for each in heard} == {
        ("a", "notifications/tools/list_changed"),
        ("b", "notifications/prompts/list_changed"),
    }


def test_a_cancelled_subscription_hears_nothing_more(fresh: StdioProcess) -> None:
    assert "method" in fresh.ask(listen("a", toolsListChanged=True))
    fresh.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}', call("change_tools"))

    assert fresh.receive()["id"] == 1
    assert fresh.ask(call("add", 2, a=1, b=1))["id"] == 2


def test_over_http_a_subscription_is_a_stream_that_ends_with_the_client(http: HttpProcess) -> None:
    body = listen(1, toolsListChanged=True)
    with http.connect() as connection:
        connection.write(request(body, modern_headers(body), port=http.port))
        response = connection.open_answer()
        lines = [response.readline() for _ in range(3)]
        assert http.ask(call("change_tools")).status == 200
        told = [response.readline() for _ in range(3)]

    assert response.headers["Content-Type"] == "text/event-stream"
    assert b"subscriptions/acknowledged" in lines[1]
    assert parse_object(told[1][6:]) == {
        "jsonrpc": "2.0",
        "method": "notifications/tools/list_changed",
        "params": {"_meta": {SUBSCRIPTION: 1}},
    }


def test_completion_gives_at_most_a_hundred_values(stdio: StdioProcess) -> None:
    params = {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}}
    completion = stdio.ask(modern(1, "completion/complete", params))["result"]["completion"]

    assert (len(completion["values"]), completion["total"], completion["hasMore"]) == (100, 150, True)


@pytest.mark.slow
def test_past_the_limit_of_requests_in_flight_another_is_refused(fresh: StdioProcess) -> None:
    listens = [
        modern(number, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        for number in range(MAX_IN_FLIGHT + 1)
    ]
    sender = threading.Thread(target=fresh.send, args=listens, daemon=True)  # the server pauses its reader meanwhile
    sender.start()
    answers = [fresh.receive() for _ in listens]
    sender.join()

    assert sum("method" in answer for answer in answers) == MAX_IN_FLIGHT
    assert [(answer["id"], answer["error"]["data"]["code"]) for answer in answers if "error" in answer] == [
        (MAX_IN_FLIGHT, "OVERLOADED")
    ]
