"""Sessions: how they open, which message belongs to one, how they end."""

from __future__ import annotations

import pytest

from strictwire.canon.json import JsonObject, parse_object
from tests.fixtures.live import INITIALIZED, HttpProcess, StdioProcess, initialize, legacy, modern
from tests.protocol.messages import REVISIONS, call, cancel, opened, outcome, refusal, verb

pytestmark = pytest.mark.slow


def test_a_session_is_opened_in_each_revision_and_serves_calls(fresh: StdioProcess) -> None:
    seen = []
    for asked in [*REVISIONS, "2026-07-28", "1.0"]:
        result = fresh.ask(initialize(asked))["result"]
        fresh.send(INITIALIZED)
        added = fresh.ask(call(1, "add", a=1, b=2))["result"]["content"][0]["text"]
        seen.append((result["protocolVersion"], result["serverInfo"]["name"], fresh.ask(legacy(2, "ping"))["result"], added))

    spoken = [*REVISIONS, "2025-11-25", "2025-11-25"]
    assert seen == [(revision, "hard", {}, '{"result":3}') for revision in spoken]


def test_a_session_over_http_is_named_by_its_header_until_it_is_deleted(http: HttpProcess) -> None:
    first, second = http.open_session(), http.open_session()
    before = [outcome(http.post(legacy(1, "ping"), each).json()) for each in (first, second)]
    deleted = verb(http, "DELETE", first).status
    gone = [http.post(raw, first) for raw in (legacy(1, "ping"), legacy(2, "tools/list"), INITIALIZED)]
    again = [verb(http, name, first).status for name in ("DELETE", "GET")]

    assert first["Mcp-Session-Id"] != second["Mcp-Session-Id"]
    assert before == [{}, {}]
    assert deleted == 204
    assert [refusal(answer) for answer in gone] == [(404, "SESSION_UNKNOWN")] * 3
    assert again == [404, 404]
    assert outcome(http.post(legacy(1, "ping"), second).json()) == {}


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (legacy(1, "tools/list"), {}, (400, "SESSION_REQUIRED")),
        (legacy(1, "tools/list"), {"Mcp-Session-Id": "nope"}, (404, "SESSION_UNKNOWN")),
        (legacy(1, "ping"), {"Mcp-Session-Id": "nope"}, (404, "SESSION_UNKNOWN")),
        (INITIALIZED, {}, (400, "SESSION_REQUIRED")),
        (INITIALIZED, {"Mcp-Session-Id": "nope"}, (404, "SESSION_UNKNOWN")),
        (cancel(1), {}, (400, "SESSION_REQUIRED")),
        (modern(1, "tools/list"), {}, (400, "HEADER_MISMATCH")),
        (modern(1, "tools/list"), {"MCP-Protocol-Version": "2025-11-25"}, (400, "HEADER_MISMATCH")),
        (legacy(1, "tools/list"), {"MCP-Protocol-Version": "2026-07-28"}, (400, "MALFORMED_PARAMS")),
        (b'{"jsonrpc":"2.0","id":"x","result":{}}', {}, (400, "NOT_A_REQUEST")),
        (b'{"jsonrpc":"2.0","id":"x","result":{}}', {"Mcp-Session-Id": "nope"}, (400, "NOT_A_REQUEST")),
    ],
)
def test_a_message_without_a_session_is_refused(
    http: HttpProcess, body: bytes, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    answer = http.post(body, headers)

    assert refusal(answer) == expected
    assert answer.headers["Mcp-Session-Id"] is None, "a refusal opens no session"


def test_only_ping_is_answered_without_a_session(http: HttpProcess, fresh: StdioProcess) -> None:
    over_http = http.post(legacy(1, "ping"))
    fresh.send(INITIALIZED, cancel(7), legacy(1, "ping"))

    assert (over_http.status, outcome(over_http.json())) == (200, {})
    assert fresh.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert outcome(fresh.ask(legacy(2, "tools/list"))) == (-32600, "SESSION_REQUIRED")


@pytest.mark.parametrize(
    ("name", "headers", "status"),
    [
        ("GET", {}, 400),
        ("GET", {"Mcp-Session-Id": "nope"}, 404),
        ("DELETE", {}, 400),
        ("DELETE", {"Mcp-Session-Id": "nope"}, 404),
        ("GET", {"MCP-Protocol-Version": "2026-07-28"}, 405),
        ("DELETE", {"MCP-Protocol-Version": "2026-07-28"}, 405),
        ("PUT", {}, 405),
    ],
)
def test_get_and_delete_belong_to_sessions(http: HttpProcess, name: str, headers: dict[str, str], status: int) -> None:
    assert verb(http, name, headers).status == status


def test_an_initialize_that_lacks_a_member_is_refused_on_both_transports(http: HttpProcess, stdio: StdioProcess) -> None:
    params: JsonObject = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    changes: list[JsonObject] = [
        {"protocolVersion": None},
        {"protocolVersion": 5},
        {"capabilities": None},
        {"capabilities": []},
        {"clientInfo": None},
    ]
    for change in changes:
        given = {name: value for name, value in {**params, **change}.items() if value is not None}
        answer = http.post(legacy(1, "initialize", given))

        assert outcome(answer.json()) == (-32602, "MALFORMED_PARAMS")
        assert answer.headers["Mcp-Session-Id"] is None
        assert stdio.ask(legacy(1, "initialize", given)) == answer.json()


def test_the_whole_opening_may_come_in_one_write(fresh: StdioProcess) -> None:
    """A server may refuse every request before `initialized`, so nothing may overtake it."""
    fresh.send(initialize(), INITIALIZED, call(1, "add", a=1, b=2), legacy(2, "ping"))
    answers = {each["id"]: each for each in (fresh.receive() for _ in range(3))}

    assert answers["init"]["result"]["protocolVersion"] == "2025-11-25"
    assert answers[1]["result"]["structuredContent"] == {"result": 3}
    assert answers[2]["result"] == {}


def test_a_second_initialize_opens_a_new_session_and_answers_the_requests_of_the_old(fresh: StdioProcess) -> None:
    opened(fresh, elicitation={})
    question = fresh.ask(call(1, "ask_name", greeting="Hi"))
    fresh.send(initialize("2025-06-18"))
    answers = {each["id"]: each for each in (fresh.receive(), fresh.receive())}
    fresh.send(INITIALIZED)

    assert question["method"] == "elicitation/create"
    assert answers["init"]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[1]["result"]["isError"] is True
    assert fresh.ask(legacy(2, "ping")) == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_at_the_end_of_input_a_call_that_waits_for_the_client_is_answered(fresh: StdioProcess) -> None:
    opened(fresh, elicitation={})
    question = fresh.ask(call(1, "ask_name", greeting="Hi"))
    fresh.end_input()
    (answer,) = [parse_object(line) for line in fresh.rest()]

    assert question["method"] == "elicitation/create"
    assert (answer["id"], answer["result"]["isError"]) == (1, True)
