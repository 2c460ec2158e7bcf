"""Streams over HTTP: resumed after a break, and open for notifications of no request."""

from __future__ import annotations

import pytest

from strictwire.canon.json import JsonObject, parse
from tests.fixtures.live import Answer, HttpProcess, legacy, request
from tests.protocol.messages import call, outcome, unused, verb

pytestmark = pytest.mark.slow


def _resume(http: HttpProcess, session: dict[str, str], last: str) -> Answer:
    return verb(http, "GET", {**session, "Accept": "text/event-stream", "Last-Event-ID": last})


def test_a_stream_can_be_resumed_at_every_event(http: HttpProcess, session: dict[str, str]) -> None:
    params: JsonObject = {"name": "steps", "arguments": {"values": [1, 2, 3]}, "_meta": {"progressToken": 5}}
    first = http.post(legacy(1, "tools/call", params), session)
    ids = [line[4:].decode() for line in first.body.splitlines() if line.startswith(b"id: ")]

    assert len(ids) == 5, "the event that opens the stream, three steps, the answer"
    assert [each["params"] for each in first.events()[:3]] == [
        {"progressToken": 5, "progress": number, "total": 10, "message": "step"} for number in (1, 2, 3)
    ]
    for index, last in enumerate(ids):
        assert _resume(http, session, last).events() == first.events()[index:]


def test_a_stream_that_broke_off_is_finished_by_the_client_that_resumes_it(http: HttpProcess) -> None:
    session, name = http.open_session(), unused()
    params: JsonObject = {"name": "steps", "arguments": {"values": [1], "hold": name}, "_meta": {"progressToken": "t"}}
    with http.connect() as connection:
        connection.write(request(legacy(1, "tools/call", params), session, port=http.port))
        response = connection.open_answer()
        opening = [response.readline() for _ in range(4)]
    last = opening[0].strip().removeprefix(b"id: ").decode()
    with http.connect() as again:
        headers = {**session, "Accept": "text/event-stream", "Last-Event-ID": last}
        again.write(request(b"", headers, port=http.port, verb="GET"))
        response = again.open_answer("GET")
        progress = [response.readline() for _ in range(4)]
        assert http.post(call(2, "let_go", name=name), session).status == 200
        rest = Answer(200, response.headers, b"".join(progress) + response.read()).events()

    assert [each.get("method", each.get("id")) for each in rest] == ["notifications/progress", 1]
    assert rest[1]["result"]["structuredContent"] == {"result": 1}


def test_notifications_of_no_request_come_on_the_stream_of_the_session(http: HttpProcess) -> None:
    session = http.open_session()
    uri = "hard://watched/a"
    assert outcome(http.post(legacy(1, "resources/subscribe", {"uri": uri}), session).json()) == {}
    with http.connect() as connection:
        connection.write(request(b"", {**session, "Accept": "text/event-stream"}, port=http.port, verb="GET"))
        response = connection.open_answer("GET")
        assert http.post(call(2, "change_resource", uri=uri), session).status == 200
        lines = iter(response.readline, b"")
        data = next(line for line in lines if b"resources/updated" in line)

    assert parse(data.removeprefix(b"data: ")) == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": uri},
    }
