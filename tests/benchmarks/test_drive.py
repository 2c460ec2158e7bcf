"""The load reads responses of every shape that a server may give, and measures what was really done."""

from __future__ import annotations

import sys

import pytest
from benchmarks.drive import Load, Pipes, Stalled, read_chunked, read_event, read_fields
from benchmarks.fixture import add_calls
from benchmarks.messages import CallStream, Revision, WrongResponse
from benchmarks.process import NotStarted, free_port, run

SERVER = """
import json, sys
for line in sys.stdin.buffer:
    asked = json.loads(line)
    given = asked["params"]["arguments"]
    result = {"content": [{"type": "text", "text": ""}], "structuredContent": {"sum": given["a"] + given["b"]}}
    print(json.dumps({"id": asked["id"], "result": result}), flush=True)
    {AFTER}
"""


def serve(after: str = "pass") -> list[str]:
    return [sys.executable, "-c", SERVER.replace("{AFTER}", after)]


def test_a_closed_loop_makes_the_given_number_of_calls_and_checks_every_response() -> None:
    stream = CallStream(add_calls(4), Revision.MODERN)
    with run(serve(), env={}) as running:
        measured = Pipes(running, Revision.MODERN).drive(stream, Load(in_flight=8, seconds=20.0, calls=100))

    assert (measured.calls, len(measured.latencies), stream.parsed) == (100, 100, 4)
    assert 0 < measured.p50 < measured.seconds
    assert measured.rate == 100 / measured.seconds


def test_a_second_response_is_detected() -> None:
    twice = 'print(json.dumps({"id": asked["id"], "result": result}), flush=True)'
    with run(serve(twice), env={}) as running, pytest.raises(WrongResponse, match="a second response"):
        Pipes(running, Revision.MODERN).drive(
            CallStream(add_calls(4), Revision.MODERN), Load(in_flight=2, seconds=20.0, calls=50)
        )


def test_a_server_that_ends_is_distinguished_from_a_slow_one() -> None:
    with run(serve("sys.exit(3)"), env={}) as running, pytest.raises(Stalled, match="closed its output"):
        Pipes(running, Revision.MODERN).drive(CallStream(add_calls(4), Revision.MODERN), Load(in_flight=2, seconds=20.0))


def test_a_server_that_does_not_start_is_reported_with_its_standard_error() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]
    with pytest.raises(NotStarted, match="no such thing"), run(command, env={}, port=free_port()):
        pass


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"3\r\nabc\r\n0\r\n", None),
        (b"3\r\nab", None),
        (b"", None),
    ],
)
def test_a_chunked_body_is_returned_once_it_is_complete(data: bytes, body: bytes | None) -> None:
    assert read_chunked(data) == body


def test_the_last_message_of_an_event_stream_is_the_response() -> None:
    stream = b'id: 1\r\ndata: \r\n\r\nevent: message\r\ndata: {"id":1}\r\n\r\n'

    assert (read_event(stream), read_event(b'{"id":2}')) == (b'{"id":1}', b'{"id":2}')


def test_header_names_do_not_depend_on_case() -> None:
    assert read_fields(b"HTTP/1.1 200 OK\r\nMcp-Session-ID: abc\r\nContent-Length:  5") == {
        "mcp-session-id": "abc",
        "content-length": "5",
    }
