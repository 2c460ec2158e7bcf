"""Requests in flight: batches, cancellation, ids."""

from __future__ import annotations

import pytest

from strictwire.canon.json import JsonObject, parse
from tests.fixtures.live import HttpProcess, StdioProcess, initialize, legacy, request
from tests.protocol.messages import (
    REVISIONS,
    batch,
    call,
    cancel,
    held,
    modern_call,
    opened,
    outcome,
    refusal,
    unused,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("revision", REVISIONS)
def test_batches_exist_in_2025_03_26_alone(fresh: StdioProcess, revision: str) -> None:
    opened(fresh, revision)
    fresh.send(batch(legacy(1, "ping"), call(2, "add", a=1, b=2)))
    answer = parse(fresh.line())

    if revision == "2025-03-26":
        assert isinstance(answer, list)
        assert [each["id"] for each in answer] == [1, 2]
    else:
        assert isinstance(answer, dict)
        assert answer["error"]["code"] == -32600


def test_each_message_of_a_batch_is_checked_by_itself(http: HttpProcess) -> None:
    session = http.open_session("2025-03-26")
    notification = b'{"jsonrpc":"2.0","method":"notifications/x"}'
    messages = (b"5", legacy(1, "nope"), notification, legacy(2, "ping"), initialize(), call(3, "add", a=1, b="x"))
    answers = parse(http.post(batch(*messages), session).body)

    assert isinstance(answers, list)
    assert [(each.get("id"), each.get("error", {}).get("code")) for each in answers] == [
        (None, -32600),
        (1, -32601),
        (2, None),
        ("init", -32600),
        (3, None),
    ]
    assert answers[4]["result"]["isError"] is True
    assert http.post(batch(notification, notification), session).status == 202
    assert http.post(b"[]", session).json()["error"]["code"] == -32600
    assert http.post(batch(*[legacy(n, "ping") for n in range(101)]), session).json()["error"]["code"] == -32600


def test_cancelling_one_request_of_a_batch_leaves_the_others(fresh: StdioProcess) -> None:
    opened(fresh, "2025-03-26")
    one, two = unused(), unused()
    fresh.send(batch(call(1, "hold", name=one), call(2, "hold", name=two)))
    held(fresh.ask, call, f"began {one}")
    held(fresh.ask, call, f"began {two}")
    fresh.send(cancel(1))
    held(fresh.ask, call, f"cancelled {one}")
    fresh.send(call("go", "let_go", name=two))
    lines = [parse(fresh.line()), parse(fresh.line())]
    (answers,) = [line for line in lines if isinstance(line, list)]

    assert [each["id"] for each in answers] == [2]


@pytest.mark.parametrize("era", ["legacy", "stateless"])
def test_an_id_can_be_used_again_after_a_cancellation_and_cancelled_again(fresh: StdioProcess, era: str) -> None:
    opened(fresh)
    make = call if era == "legacy" else modern_call
    for name in (unused(), unused()):
        fresh.send(make(1, "hold", name=name))
        held(fresh.ask, make, f"began {name}")
        fresh.send(cancel(1))
        held(fresh.ask, make, f"cancelled {name}")
    answered = fresh.ask(make(1, "add", a=1, b=2))

    assert (answered["id"], answered["result"]["structuredContent"]) == (1, {"result": 3})


def test_an_id_can_be_used_again_after_a_cancellation_over_http(http: HttpProcess) -> None:
    session = http.open_session()

    def ask(raw: bytes) -> JsonObject:
        return http.post(raw, session).json()

    for name in (unused(), unused()):
        with http.connect() as connection:
            connection.write(request(call(1, "hold", name=name), session, port=http.port))
            held(ask, call, f"began {name}")
            assert http.post(cancel(1), session).status == 202
            held(ask, call, f"cancelled {name}")

            assert connection.answer().body in (b"", b"\n")
    assert ask(call(1, "add", a=1, b=2))["result"]["structuredContent"] == {"result": 3}


@pytest.mark.parametrize("era", ["legacy", "stateless"])
def test_a_second_request_with_an_id_in_flight_is_refused(fresh: StdioProcess, era: str) -> None:
    opened(fresh)
    make = call if era == "legacy" else modern_call
    name = unused()
    fresh.send(make(1, "hold", name=name))
    held(fresh.ask, make, f"began {name}")
    refused = fresh.ask(make(1, "add", a=1, b=2))
    text = fresh.ask(make("1", "add", a=1, b=2))
    fresh.send(make(2, "let_go", name=name))
    answers = {each["id"]: each["result"] for each in (fresh.receive(), fresh.receive())}

    assert (refused["id"], outcome(refused)) == (1, (-32600, "DUPLICATE_ID"))
    assert text["id"] == "1", "a text is not the same id as a number"
    assert answers[1]["content"][0]["text"] == name


def test_an_id_in_flight_is_refused_in_its_session_and_free_in_another(http: HttpProcess) -> None:
    mine, other, name = http.open_session(), http.open_session(), unused()
    with http.connect() as connection:
        connection.write(request(call(1, "hold", name=name), mine, port=http.port))
        held(lambda raw: http.post(raw, mine).json(), call, f"began {name}")
        refused, free = http.post(legacy(1, "ping"), mine), http.post(legacy(1, "ping"), other)
        assert http.post(call(2, "let_go", name=name), mine).status == 200
        answer = connection.answer()

    assert (refusal(refused), free.json()["result"]) == ((400, "DUPLICATE_ID"), {})
    assert answer.json()["result"]["content"][0]["text"] == name
