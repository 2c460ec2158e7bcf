"""Requests in endpoints: disconnects, cancellation and faults, by each server that drives the HTTP rules."""

from __future__ import annotations

import socket
import struct

from tests.fixtures.live import HttpProcess, legacy, modern, modern_headers, request, wait_for
from tests.transport.http.calls import ADD, call, happened, value_of, wired


def test_going_away_cancels_in_the_stateless_era(either: HttpProcess) -> None:
    with either.connect() as connection:
        connection.write(wired(call(1, "hold", name="gone"), either.port))
        wait_for(lambda: happened(either, "began gone"))
    wait_for(lambda: happened(either, "cancelled gone"))


def test_a_reset_cancels_in_the_stateless_era(either: HttpProcess) -> None:
    with either.connect() as connection:
        connection.write(wired(call(1, "hold", name="reset"), either.port))
        wait_for(lambda: happened(either, "began reset"))
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_for(lambda: happened(either, "cancelled reset"))


def test_going_away_does_not_cancel_in_the_legacy_era(either: HttpProcess) -> None:
    session = either.open_session()
    with either.connect() as connection:
        body = legacy(1, "tools/call", {"name": "hold", "arguments": {"name": "stays"}})
        connection.write(request(body, session, port=either.port))
        wait_for(lambda: happened(either, "began stays"))
    assert value_of(either.ask(call(1, "let_go", name="stays")).json()) is True
    wait_for(lambda: happened(either, "ended stays"))


def test_a_cancelled_legacy_request_ends_without_an_answer_and_the_connection_stays(either: HttpProcess) -> None:
    session = either.open_session()
    with either.connect() as connection:
        body = legacy(5, "tools/call", {"name": "hold", "arguments": {"name": "given up"}})
        connection.write(request(body, session, port=either.port))
        wait_for(lambda: happened(either, "began given up"))
        cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}'
        accepted = either.post(cancel, session)
        answer = connection.answer()
        again = connection.post(legacy(5, "ping"), session)

    assert (accepted.status, answer.events(), again.json()) == (202, [], {"jsonrpc": "2.0", "id": 5, "result": {}})


def test_a_late_thread_cannot_write_into_the_next_answer(either: HttpProcess) -> None:
    late = modern(1, "tools/call", {"name": "late"}, progressToken="t", **{"io.modelcontextprotocol/logLevel": "debug"})
    with either.connect() as connection:
        first = connection.post(late, modern_headers(late)).json()
        assert either.ask(call(2, "free_late")).status == 200
        wait_for(lambda: happened(either, "late spoke"))
        second = connection.post(ADD, modern_headers(ADD)).json()

    assert first["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    assert value_of(second) == 3


def test_a_fault_of_ours_is_answered_too(either: HttpProcess) -> None:
    """A number of 5,000 digits where Python reads at most 4,300."""
    session = either.open_session()
    with either.connect() as connection:
        headers = {**session, "Accept": "text/event-stream", "Last-Event-ID": "1." + "9" * 5000}
        connection.write(request(b"", headers, port=either.port, verb="GET"))

        assert connection.open_answer("GET").status == 200
