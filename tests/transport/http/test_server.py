"""Our own HTTP server on an event loop that is not Python's: only public API of asyncio is used."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.fixtures.live import PATIENCE, HttpProcess, legacy, modern, modern_headers, request, serve_http, wait_for
from tests.transport.http.calls import ADD, call, happened, value_of, wired


@pytest.fixture(scope="module")
def on_uvloop() -> Iterator[HttpProcess]:
    with serve_http("on_uvloop:server") as process:
        yield process


def test_the_event_loop_is_the_one_that_was_chosen(on_uvloop: HttpProcess) -> None:
    assert on_uvloop.ask(call(1, "event_loop")).json()["result"]["content"][0]["text"] == "uvloop"


def test_requests_are_answered_in_turn(on_uvloop: HttpProcess) -> None:
    bodies = [call(number, "add" if number % 2 else "add_in_thread", a=number, b=0) for number in range(20)]
    with on_uvloop.connect() as connection:
        connection.write(b"".join(wired(body, on_uvloop.port) for body in bodies))

        assert [value_of(connection.answer().json()) for _ in bodies] == list(range(20))


def test_events_come_before_the_answer(on_uvloop: HttpProcess) -> None:
    body = modern(1, "tools/call", {"name": "steps", "arguments": {"values": [1, 2]}}, progressToken="t")

    assert [event.get("id") for event in on_uvloop.ask(body).events()] == [None, None, 1]


def test_a_large_answer_arrives(on_uvloop: HttpProcess) -> None:
    answer = on_uvloop.ask(call(1, "big", size=2_000_000))

    assert (answer.status, len(answer.body) > 12_000_000) == (200, True)


def test_a_malformed_request_gets_one_answer_and_the_connection_ends(on_uvloop: HttpProcess) -> None:
    with on_uvloop.connect() as connection:
        connection.write(b"\x00\r\n\r\n" + b"x" * 1_000_000)

        assert connection.answer().status == 400
        assert connection.is_closed()


def test_going_away_cancels(on_uvloop: HttpProcess) -> None:
    with on_uvloop.connect() as connection:
        connection.write(wired(call(1, "hold", name="gone"), on_uvloop.port))
        wait_for(lambda: happened(on_uvloop, "began gone"))
    wait_for(lambda: happened(on_uvloop, "cancelled gone"))


@pytest.mark.slow
def test_a_connection_is_handed_to_the_worker_of_its_session() -> None:
    with serve_http("on_uvloop:server", "--workers", "2") as process:
        for session in [process.open_session() for _ in range(8)]:
            body = legacy(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})
            with process.connect() as connection:
                connection.write(request(body, session, port=process.port) * 2)
                sums = [value_of(connection.answer().json()) for _ in range(2)]
            assert sums == [2, 2]


def test_a_signal_ends_it_cleanly_with_streams_open() -> None:
    with serve_http("on_uvloop:server") as process, process.connect() as listening:
        body = modern(2, "subscriptions/listen", {"notifications": {}})
        listening.write(request(body, modern_headers(body), port=process.port))
        assert process.ask(ADD).status == 200
        process.process.send_signal(signal.SIGTERM)

        assert [event.get("id") for event in listening.answer().events()] == [None, 2]
        assert process.process.wait(PATIENCE) == 0
        assert not any(b"Traceback" in line for line in process.errors)
