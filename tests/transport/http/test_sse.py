"""Event streams: how they are written, when they are used, that they stay alive, and that they can be come back to."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.canon.json import render
from strictwire.transport.http import http1, sse
from tests.fixtures.live import Answer, HttpProcess, legacy, modern, modern_headers, request, serve_http


def test_an_event_is_written_as_the_standard_says() -> None:
    assert sse.event(b'{"a":1}') == b'event: message\ndata: {"a":1}\n\n'
    assert sse.event(b"", event_id="1.0", retry_ms=500) == b"id: 1.0\nretry: 500\ndata: \n\n"
    assert http1.chunk(b"x" * 16) == b"10\r\n" + b"x" * 16 + b"\r\n"


def test_an_answer_with_nothing_before_it_is_plain_json(either: HttpProcess) -> None:
    answer = either.ask(modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, progressToken="t"))

    assert answer.headers["Content-Type"] == "application/json"


def test_progress_comes_before_the_answer_on_one_stream(either: HttpProcess) -> None:
    body = modern(1, "tools/call", {"name": "steps", "arguments": {"values": [1, 2, 2, 1, 3]}}, progressToken="t")
    answer = either.ask(body)
    told = [event.get("params", {}).get("progress") for event in answer.events()]

    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert told == [1, 2, 3, None], "progress only grows, and the answer is last"
    assert answer.events()[-1]["id"] == 1


def test_a_stream_leaves_the_connection_for_the_next_request(either: HttpProcess) -> None:
    body = modern(1, "tools/call", {"name": "steps", "arguments": {"values": [1]}}, progressToken="t")
    with either.connect() as connection:
        answers = [connection.post(body, modern_headers(body)) for _ in range(3)]

    assert [answer.events()[-1]["id"] for answer in answers] == [1, 1, 1]


def test_a_quiet_stream_is_kept_alive(hasty: HttpProcess) -> None:
    body = modern(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    with hasty.connect() as connection:
        connection.write(request(body, modern_headers(body), port=hasty.port))
        response = connection.open_answer()
        lines = [response.readline() for _ in range(10)]

    assert lines[0] == b"event: message\n"
    assert lines[3:7] == [b": \n", b"\n", b": \n", b"\n"]


def _resume(either: HttpProcess, session: dict[str, str], last: str) -> Answer:
    with either.connect() as connection:
        headers = {**session, "Accept": "text/event-stream", "Last-Event-ID": last}
        connection.write(request(b"", headers, port=either.port, verb="GET"))
        return connection.answer("GET")


def _ids(answer: Answer) -> list[str]:
    return [line[4:].decode() for line in answer.body.splitlines() if line.startswith(b"id: ")]


def test_a_legacy_stream_can_be_come_back_to_at_every_event(either: HttpProcess) -> None:
    session = either.open_session()
    params: dict[str, Any] = {"name": "steps", "arguments": {"values": [1, 2, 3]}, "_meta": {"progressToken": 5}}
    first = either.post(legacy(1, "tools/call", params), session)
    ids = _ids(first)

    assert len(ids) == 5, "the event that opens the stream, three steps, the answer"
    for index, last in enumerate(ids):
        assert _resume(either, session, last).events() == first.events()[index:]


def test_a_stream_that_was_closed_is_finished_by_whoever_comes_back() -> None:
    with serve_http("everything:server") as everything:
        session = everything.open_session()
        first = everything.post(legacy(1, "tools/call", {"name": "test_reconnection"}), session)
        rest = _resume(everything, session, _ids(first)[-1])

    assert (first.events(), b"retry: 500" in first.body) == ([], True)
    assert rest.events()[0]["result"]["content"][0]["text"] == "Reconnection test completed successfully"


def test_a_client_that_lost_its_connection_gets_the_answer_by_coming_back(either: HttpProcess) -> None:
    session = either.open_session(capabilities={"elicitation": {}})
    with either.connect() as connection:
        body = legacy(1, "tools/call", {"name": "ask_name", "arguments": {"greeting": "Hi"}})
        connection.write(request(body, session, port=either.port))
        response = connection.open_answer()
        opening = [response.readline() for _ in range(4)]
        asked = [response.readline() for _ in range(4)]
    last = opening[0].strip().removeprefix(b"id: ").decode()
    question = asked[2].partition(b"data: ")[2]
    with either.connect() as again:
        headers = {**session, "Accept": "text/event-stream", "Last-Event-ID": last}
        again.write(request(b"", headers, port=either.port, verb="GET"))
        response = again.open_answer("GET")
        repeated = [response.readline() for _ in range(4)][2].partition(b"data: ")[2]
        assert repeated == question
        for _ in range(2):
            sent = Answer(200, response.headers, b"data: " + repeated).events()[0]
            reply = {"jsonrpc": "2.0", "id": sent["id"], "result": {"action": "accept", "content": {"name": "Ann"}}}
            assert either.post(render(reply), session).status == 202
            repeated = [response.readline() for _ in range(4)][2].partition(b"data: ")[2]

    assert b"Hi Ann Ann" in repeated


@pytest.mark.parametrize("last", ["nope", "999.0", "1.x", "1.-1", "", "1." + "9" * 5000, "1.\xb2"])
def test_an_event_that_was_never_sent_opens_a_stream_of_its_own(either: HttpProcess, last: str) -> None:
    session = either.open_session()
    with either.connect() as connection:
        headers = {**session, "Accept": "text/event-stream", "Last-Event-ID": last}
        connection.write(request(b"", headers, port=either.port, verb="GET"))

        assert connection.open_answer("GET").status == 200


def test_what_belongs_to_no_request_comes_on_the_stream_of_the_session(either: HttpProcess) -> None:
    session = either.open_session()
    assert either.post(legacy(1, "resources/subscribe", {"uri": "hard://watched/a"}), session).status == 200
    with either.connect() as connection:
        connection.write(request(b"", {**session, "Accept": "text/event-stream"}, port=either.port, verb="GET"))
        response = connection.open_answer("GET")
        for uri in ("hard://watched/b", "hard://watched/a"):
            assert (
                either.post(legacy(2, "tools/call", {"name": "change_resource", "arguments": {"uri": uri}}), session).status
                == 200
            )
        assert either.post(legacy(3, "tools/call", {"name": "change_tools"}), session).status == 200
        told = [response.readline() for _ in range(9)]

    events = Answer(200, response.headers, b"".join(told)).events()
    assert [event["method"] for event in events] == [
        "notifications/resources/updated",
        "notifications/tools/list_changed",
        "notifications/tools/list_changed",
    ]


def test_ending_a_session_ends_its_streams(either: HttpProcess) -> None:
    session = either.open_session()
    with either.connect() as stream, either.connect() as other:
        stream.write(request(b"", {**session, "Accept": "text/event-stream"}, port=either.port, verb="GET"))
        response = stream.open_answer("GET")
        other.write(request(b"", session, port=either.port, verb="DELETE"))
        assert other.answer("DELETE").status == 204
        assert response.read() == b""
    assert either.post(legacy(1, "ping"), session).status == 404
