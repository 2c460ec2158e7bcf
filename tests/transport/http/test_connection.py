"""HTTP/1.1 as MCP needs it: each request answered once and in turn, every limit kept, nothing left waiting."""

from __future__ import annotations

import http.client as http_client
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.fixtures.live import (
    PATIENCE,
    HttpConnection,
    HttpProcess,
    modern,
    modern_headers,
    request,
    serve_http,
    wait_for,
)
from tests.transport.http.calls import ADD, call, happened, value_of, wired

LIMIT = 4 * 1024 * 1024


def test_a_connection_is_kept_for_the_next_request(http: HttpProcess) -> None:
    with http.connect() as connection:
        answers = [connection.post(ADD, modern_headers(ADD)) for _ in range(3)]

    assert [value_of(answer.json()) for answer in answers] == [3, 3, 3]


def test_pipelined_requests_are_answered_in_their_order(http: HttpProcess) -> None:
    bodies = [call(number, "add" if number % 2 else "add_in_thread", a=number, b=0) for number in range(50)]
    with http.connect() as connection:
        connection.write(b"".join(wired(body, http.port) for body in bodies))
        answers = [connection.answer().json() for _ in bodies]

    assert [(answer["id"], value_of(answer)) for answer in answers] == [(number, number) for number in range(50)]


def test_requests_behind_a_long_one_are_not_read_without_bound(http: HttpProcess) -> None:
    """A client that goes on sending meets a full socket, not a server that keeps everything."""
    with http.connect() as connection:
        connection.write(wired(call(1, "hold", name="behind"), http.port))
        wait_for(lambda: happened(http, "began behind"))
        connection.socket.settimeout(0.3)
        filler = wired(call(2, "say", text="x" * 100_000), http.port)
        with pytest.raises(TimeoutError):
            connection.write(filler * 1000)
    assert http.ask(call(3, "let_go", name="behind")).status == 200


@pytest.mark.parametrize("pieces", [1, 7, 4096])
def test_a_chunked_body_is_a_body(http: HttpProcess, pieces: int) -> None:
    chunks = [ADD[cut : cut + pieces] for cut in range(0, len(ADD), pieces)]
    coded = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\nX-Trailer: 1\r\n\r\n"
    headers = {**modern_headers(ADD), "Content-Length": None, "Transfer-Encoding": "chunked"}
    with http.connect() as connection:
        connection.write(request(b"", headers, port=http.port) + coded + wired(ADD, http.port))
        answers = [connection.answer(), connection.answer()]

    assert [value_of(answer.json()) for answer in answers] == [3, 3]


def test_a_request_may_come_byte_by_byte(http: HttpProcess) -> None:
    with http.connect() as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in wired(ADD, http.port):
            connection.write(bytes([byte]))

        assert value_of(connection.answer().json()) == 3


@pytest.mark.parametrize("spelling", ["100-continue", "100-Continue"])
def test_a_client_that_asks_before_it_sends_is_told_to(http: HttpProcess, spelling: str) -> None:
    raw = wired(ADD, http.port, Expect=spelling)
    head, body = raw[: -len(ADD)], raw[-len(ADD) :]
    with http.connect() as connection:
        connection.write(head)
        interim = connection.socket.recv(1000)
        connection.write(body)
        answer = connection.answer()

    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert value_of(answer.json()) == 3


@pytest.mark.parametrize(("headers", "status"), [({"Content-Length": str(LIMIT + 1)}, 413), ({"Host": "evil.example"}, 421)])
def test_a_client_that_asks_before_it_sends_what_is_not_wanted_is_told_so_at_once(
    http: HttpProcess, headers: dict[str, str], status: int
) -> None:
    with http.connect() as connection:
        connection.write(request(b"", {"Expect": "100-continue", "Content-Length": "100", **headers}, port=http.port))

        assert connection.answer().status == status


@pytest.mark.parametrize("size", [LIMIT + 1, 2 * LIMIT, 64 * 1024 * 1024])
def test_a_body_past_the_limit_is_refused_and_the_refusal_arrives(http: HttpProcess, size: int) -> None:
    """Also to a client that sends all of it before it reads."""
    with http.connect() as connection:
        connection.write(request(b"", {**modern_headers(ADD), "Content-Length": str(size)}, port=http.port))
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.write(b" " * size)
        answer = connection.answer()

    assert (answer.status, answer.json()["error"]["code"]) == (413, -32600)
    assert answer.json()["error"]["data"]["code"] == "REQUEST_TOO_LARGE"


def test_a_body_at_the_limit_is_served(http: HttpProcess) -> None:
    body = call(1, "say", text="x" * (LIMIT - len(call(1, "say", text="")) - 1))
    answer = http.ask(body)

    assert (answer.status, len(body)) == (200, LIMIT - 1)
    assert "CAP_EXCEEDED" not in str(answer.json())[:500]


def test_an_answer_larger_than_what_may_wait_arrives(http: HttpProcess) -> None:
    """Structured content of 4 MB is repeated as text, escaped: 12 MB on the wire, before anything of it is read."""
    with http.connect() as connection:
        connection.write(wired(call(1, "big", size=2_000_000), http.port))
        answer = connection.answer()

    assert (answer.status, answer.body.count(b'\\"') >= 4_000_000, answer.body[-1:]) == (200, True, b"}")


MALFORMED = {
    "not HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "a tunnel": b"CONNECT example.org:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "bad version": b"GET /mcp HTTP/9.9\r\n\r\n",
    "space in a header name": b"POST /mcp HTTP/1.1\r\nHo st: x\r\n\r\n",
    "two lengths": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "length and chunks": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a length that is no number": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
    "a negative length": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    "a length beyond 64 bits": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\n",
    "a bad chunk": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "an endless head": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    "endless headers": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
    "an endless target": b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED)
def test_what_is_not_http_gets_one_answer_and_the_connection_ends(http: HttpProcess, raw: bytes) -> None:
    with http.connect() as connection:
        connection.write(raw)
        answer = connection.answer()

        assert (answer.status, answer.json()["code"], answer.headers["Connection"]) == (400, "HTTP_MALFORMED", "close")
        assert connection.is_closed()


def test_what_came_before_the_malformed_is_answered_first(http: HttpProcess) -> None:
    with http.connect() as connection:
        connection.write(wired(call(1, "add_in_thread", a=1, b=2), http.port) + b"\x00\x00\r\n\r\n")
        answers = [connection.answer(), connection.answer()]

    assert [answer.status for answer in answers] == [200, 400]


def test_the_offer_of_another_protocol_is_passed_over(http: HttpProcess) -> None:
    """Some clients offer h2c with every request."""
    raw = wired(ADD, http.port, **{"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABk"})
    with http.connect() as connection:
        connection.write(raw + raw + wired(ADD, http.port))
        answers = [connection.answer() for _ in range(3)]

    assert [value_of(answer.json()) for answer in answers] == [3, 3, 3]


def test_connection_close_is_honoured(http: HttpProcess) -> None:
    with http.connect() as connection:
        connection.write(wired(ADD, http.port, Connection="close"))
        answer = connection.answer()

        assert (answer.status, answer.headers["Connection"]) == (200, "close")
        assert connection.is_closed()


def test_a_thousand_calls_in_flight_are_each_answered_with_their_own_id(http: HttpProcess) -> None:
    count = 1000
    before = len(value_of(http.ask(call(1, "story")).json()))
    connections = [http.connect() for _ in range(count)]
    for number, connection in enumerate(connections):
        connection.write(wired(call(number, "hold", name=f"h{number}"), http.port))
    wait_for(lambda: len(value_of(http.ask(call(1, "story")).json())) >= before + count)
    with http.connect() as other:
        for number in reversed(range(count)):
            assert other.post(*_with_headers(call("go", "let_go", name=f"h{number}"))).status == 200
    answers = [connection.answer().json() for connection in connections]
    for connection in connections:
        connection.__exit__()

    assert [(each["id"], each["result"]["content"][0]["text"]) for each in answers] == [(n, f"h{n}") for n in range(count)]


def _with_headers(body: bytes) -> tuple[bytes, dict[str, str]]:
    return body, modern_headers(body)


def test_many_connections_share_one_server(http: HttpProcess) -> None:
    def work(number: int) -> list[int]:
        with http.connect() as connection:
            return [value_of(connection.post(*_with_headers(call(n, "add", a=n, b=number))).json()) - n for n in range(25)]

    with ThreadPoolExecutor(16) as pool:
        assert [set(found) for found in pool.map(work, range(32))] == [{number} for number in range(32)]


# Time.


def test_a_request_that_trickles_in_is_not_waited_for(hasty: HttpProcess) -> None:
    with hasty.connect() as connection:
        connection.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Len")
        answer = connection.answer()

        assert (answer.status, answer.json()["detail"]) == (400, "The request did not arrive in time")
        assert connection.is_closed()


def test_a_body_that_trickles_in_is_not_waited_for(hasty: HttpProcess) -> None:
    with hasty.connect() as connection:
        connection.write(wired(ADD, hasty.port)[:-5])

        assert connection.answer().status == 400
        assert connection.is_closed()


def test_a_silent_connection_is_closed(hasty: HttpProcess) -> None:
    with hasty.connect() as connection:
        assert connection.is_closed()
    with hasty.connect() as connection:
        assert connection.post(ADD, modern_headers(ADD)).status == 200
        assert connection.is_closed()


def test_past_the_limit_a_connection_is_told_to_come_back(hasty: HttpProcess) -> None:
    held: list[HttpConnection] = []
    try:
        for number in range(8):
            connection = hasty.connect()
            held.append(connection)
            connection.write(wired(call(1, "hold", name=f"c{number}"), hasty.port))
        with hasty.connect() as connection:
            connection.write(wired(ADD, hasty.port))
            answer = connection.answer()
            assert (answer.status, answer.json()["code"], answer.headers["Retry-After"]) == (503, "OVERLOADED", "1")
    finally:
        for connection in held:
            connection.__exit__()
    wait_for(lambda: _is_served(hasty))


def _is_served(hasty: HttpProcess) -> bool:
    try:
        return hasty.ask(ADD).status == 200
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_with_calls_in_flight(number: int) -> None:
    with serve_http("hasty:server") as process, process.connect() as held, process.connect() as listening:
        held.write(wired(call(1, "hold", name="x"), process.port))
        listening.write(wired(modern(2, "subscriptions/listen", {"notifications": {}}), process.port))
        wait_for(lambda: happened(process, "began x"))
        process.process.send_signal(number)
        ended = listening.answer()

        assert process.process.wait(PATIENCE) == 0
        assert [event.get("id") for event in ended.events()] == [None, 2]
        assert not any(b"Traceback" in line for line in process.errors)


def test_a_running_call_is_answered_before_the_server_stops() -> None:
    with serve_http("hard:server") as process, process.connect() as held, process.connect() as other:
        held.write(wired(call(1, "hold", name="x"), process.port))
        wait_for(lambda: happened(process, "began x"))
        other.write(wired(ADD, process.port))
        assert other.answer().status == 200
        process.process.send_signal(signal.SIGTERM)
        wait_for(lambda: not _listens(process.port))
        other.write(wired(call(2, "let_go", name="x"), process.port))

        assert held.answer().json()["result"]["content"][0]["text"] == "x"
        assert process.process.wait(PATIENCE) == 0


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            return True
    except (ConnectionRefusedError, ConnectionResetError):
        return False


@pytest.mark.slow
def test_a_client_that_never_reads_its_answer_is_cut_off(hasty: HttpProcess) -> None:
    with hasty.connect() as deaf:
        deaf.write(wired(call(1, "big", size=2_000_000), hasty.port))
        wait_for(lambda: _is_served(hasty))
        for _ in range(3):
            with hasty.connect() as silent:
                assert silent.is_closed(), "the time of an idle connection has passed"

        with pytest.raises((http_client.IncompleteRead, ConnectionResetError)):
            deaf.answer()
