"""Clients that break HTTP on purpose, over real sockets: what they hold is bounded, and others are served."""

from __future__ import annotations

import hashlib
import http.client as http_client
import json
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.live import HttpConnection, HttpProcess, legacy, modern, modern_headers, request, serve_http, wait_for

pytestmark = pytest.mark.slow

MEGABYTE = 1024 * 1024
LONG = 3600.0
"""Seconds of a limit that must not be the one that ends a connection."""

ADD = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
BIG = modern(1, "tools/call", {"name": "big", "arguments": {"size": 2_000_000}})
"""Its answer has 12 MB, more than any socket buffer."""


@contextmanager
def limited(**limits: float) -> Iterator[HttpProcess]:
    """The hard server with limits that are not the usual ones."""
    with serve_http("limited:server", env={"HTTP_LIMITS": json.dumps({"sweep_seconds": 0.02, **limits})}) as process:
        yield process


def reset(connection: HttpConnection) -> None:
    """Close a connection with RST, as a client that crashes."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.__exit__()


def is_served(process: HttpProcess) -> bool:
    try:
        return process.ask(ADD).status == 200
    except OSError:
        return False


def pass_idle_time(process: HttpProcess, times: int = 3) -> None:
    """Wait until the server has closed idle connections, which takes its idle time."""
    for _ in range(times):
        with process.connect() as idle:
            assert idle.is_closed()


def peak_memory(process: HttpProcess) -> int:
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def post_chunked(port: int, trailers: bytes = b"", **headers: str) -> bytes:
    """ADD in one chunk, with trailers."""
    fields = {**modern_headers(ADD), "Content-Length": None, "Transfer-Encoding": "chunked", **headers}
    return request(b"", fields, port=port) + b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(ADD), ADD, trailers)


# Connections that never end.


@pytest.mark.parametrize("end", [HttpConnection.__exit__, reset])
@pytest.mark.parametrize("raw", [b"\x00\r\n\r\n", b"GET /mcp HTTP/9.9\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHost: a\r\n"])
def test_a_malformed_request_and_an_immediate_close_leave_nothing_behind(
    raw: bytes, end: Callable[[HttpConnection], None]
) -> None:
    """Shutting down a connection that the client has left fails with ENOTCONN; the connection has to end all the same."""
    with limited(max_connections=4, max_unproven=4, linger_seconds=0.2, read_seconds=0.2, idle_seconds=LONG) as process:
        for _ in range(40):
            connection = process.connect()
            connection.write(raw)
            end(connection)

        wait_for(lambda: is_served(process))


def test_a_pipelined_partial_request_lives_no_longer_than_a_first_one() -> None:
    with limited(read_seconds=0.2, idle_seconds=LONG) as process, process.connect() as connection:
        connection.write(request(ADD, modern_headers(ADD), port=process.port) + b"POST /mcp HTTP/1.1\r\nHos")

        assert connection.answer().status == 200
        assert connection.answer().json()["detail"] == "The request did not arrive in time"
        assert connection.is_closed()


def test_a_partial_request_behind_a_running_one_is_refused_after_it() -> None:
    with limited(read_seconds=0.2, idle_seconds=0.2) as process, process.connect() as connection:
        hold = modern(1, "tools/call", {"name": "hold", "arguments": {"name": "x"}})
        connection.write(request(hold, modern_headers(hold), port=process.port) + b"POST /mcp HTTP/1.1\r\nHos")
        pass_idle_time(process)
        process.ask(modern(2, "tools/call", {"name": "let_go", "arguments": {"name": "x"}}))

        assert connection.answer().status == 200
        assert connection.answer().json()["detail"] == "The request did not arrive in time"
        assert connection.is_closed()


def test_a_client_that_does_not_read_is_disconnected() -> None:
    with limited(write_seconds=0.3, idle_seconds=LONG) as process, process.connect() as connection:
        connection.write(request(BIG, modern_headers(BIG), port=process.port))
        response = connection.open_answer()
        wait_for(lambda: open_sockets(process) == 1)

        with pytest.raises((http_client.IncompleteRead, ConnectionResetError)):
            response.read()


def test_a_client_that_does_not_read_and_closes_its_half_is_disconnected() -> None:
    with limited(write_seconds=0.3, idle_seconds=LONG) as process, process.connect() as connection:
        connection.write(request(BIG, modern_headers(BIG), port=process.port))
        assert connection.open_answer().status == 200
        connection.socket.shutdown(socket.SHUT_WR)

        wait_for(lambda: open_sockets(process) == 1)


def test_a_client_that_is_slow_to_read_gets_its_whole_answer() -> None:
    with limited(write_seconds=LONG, idle_seconds=0.2) as process, process.connect() as connection:
        connection.write(request(BIG, modern_headers(BIG), port=process.port))
        wait_for(lambda: is_served(process))
        pass_idle_time(process)

        assert connection.answer().status == 200


def open_sockets(process: HttpProcess) -> int:
    """Sockets of the server's process that are connected or listen; pipes and the event loop's own pair are not TCP."""
    found = set()
    for name in Path(f"/proc/{process.process.pid}/fd").iterdir():
        target = str(name.readlink()) if name.is_symlink() else ""
        found.add(target.removeprefix("socket:[").removesuffix("]"))
    return sum(line.split()[9] in found for line in Path("/proc/net/tcp").read_text().splitlines()[1:])


# Memory.


BEGINNINGS = {
    "a header field": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    "a header name": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "a target": b"GET /",
    "a trailer": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    "a chunk extension": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5;",
    "empty lines": b"",
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_what_never_ends_is_refused_and_not_kept(http: HttpProcess, kind: str) -> None:
    filler = b"\r\n" * (MEGABYTE // 2) if kind == "empty lines" else b"x" * MEGABYTE
    before = peak_memory(http)
    with ExitStack() as stack:
        connections = [stack.enter_context(http.connect()) for _ in range(64)]
        for connection in connections:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.write(BEGINNINGS[kind] + filler)
        answers = [connection.answer() for connection in connections]

    assert {(answer.status, answer.json()["detail"]) for answer in answers} == {(400, "The request head is too large")}
    assert peak_memory(http) - before < 32 * MEGABYTE, "64 MB were sent"


@pytest.mark.parametrize("trailers", [b"X: y\r\n" * 20_000, b"X: " + b"y" * 100_000 + b"\r\n"])
def test_trailers_are_limited_as_the_head_is(http: HttpProcess, trailers: bytes) -> None:
    with http.connect() as connection:
        connection.write(post_chunked(http.port, trailers))

        assert connection.answer().json()["detail"] == "The request head is too large"


def test_a_body_in_tiny_chunks_takes_its_size_and_not_much_more(http: HttpProcess) -> None:
    body = modern(1, "tools/call", {"name": "say", "arguments": {"text": "x" * MEGABYTE}})
    fields = {**modern_headers(body), "Content-Length": None, "Transfer-Encoding": "chunked"}
    coded = b"".join(b"2\r\n%b\r\n" % body[cut : cut + 2] for cut in range(0, len(body) - 1, 2))
    coded += b"1\r\n%b\r\n" % body[-1:] if len(body) % 2 else b""
    before = peak_memory(http)
    with http.connect() as connection:
        connection.write(request(b"", fields, port=http.port) + coded + b"0\r\n\r\n")
        answer = connection.answer()

    assert answer.status == 200
    assert peak_memory(http) - before < 24 * MEGABYTE


# Trailers and the head.


@pytest.mark.parametrize(("name", "value", "status"), [("Host", "evil.example", 421), ("Origin", "http://evil", 403)])
def test_a_trailer_does_not_vouch_for_a_later_head(http: HttpProcess, name: str, value: str, status: int) -> None:
    """The second request has the headers and the trailers of the first, all of them in its head."""
    with http.connect() as connection:
        connection.write(post_chunked(http.port, f"{name}: {value}\r\n".encode()))
        assert connection.answer().status == 200
        head, _, body = post_chunked(http.port).partition(b"\r\n\r\n")
        connection.write(head + f"\r\n{name}: {value}".encode() + b"\r\n\r\n" + body)

        assert connection.answer().status == status


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpProcess]:
    """A server that asks for a token."""
    config = tmp_path_factory.mktemp("locked") / "strictwire.toml"
    config.write_text(f'[[server.tokens]]\nsha256 = "{hashlib.sha256(b"secret").hexdigest()}"\nprincipal = "ann"\n')
    with serve_http("hard:server", "--config", str(config)) as process:
        yield process


def test_a_trailer_does_not_spoil_a_valid_token(locked: HttpProcess) -> None:
    token = {"Authorization": "Bearer secret"}
    with locked.connect() as connection:
        connection.write(post_chunked(locked.port, b"Authorization: Bearer secret\r\n"))
        assert connection.answer().status == 401
        connection.write(post_chunked(locked.port, **token))

        assert connection.answer().status == 200


# Shapes that were accepted.


@pytest.mark.parametrize("codings", [["identity", "gzip"], ["gzip", "identity"], ["gzip"], ["identity, gzip"]])
def test_an_encoded_body_is_refused_wherever_that_is_said(http: HttpProcess, codings: list[str]) -> None:
    head, _, body = request(ADD, modern_headers(ADD), port=http.port).partition(b"\r\n\r\n")
    fields = b"".join(b"\r\nContent-Encoding: " + coding.encode() for coding in codings)
    with http.connect() as connection:
        connection.write(head + fields + b"\r\n\r\n" + body)
        answer = connection.answer()

    assert (answer.status, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.slow
@pytest.mark.parametrize("session", ["1" * 5000 + ".x", "9" * 5000, "." * 5000, "0001.x", "1.\xb2", "\xb2.x"])
def test_a_session_id_of_any_length_is_answered_by_workers(workers: HttpProcess, session: str) -> None:
    with workers.connect() as connection:
        connection.write(request(legacy(1, "ping"), {"Mcp-Session-Id": session}, port=workers.port))

        assert connection.answer().status == 404


@pytest.fixture(scope="module")
def workers() -> Iterator[HttpProcess]:
    """The hard server with two worker processes."""
    with serve_http("hard:server", "--workers", "2") as process:
        yield process


def test_running_out_of_open_files_does_not_fill_the_log() -> None:
    with serve_http("limited:server", env={"MAX_FILES": "256"}) as process, ExitStack() as stack:
        connections: list[Any] = [stack.enter_context(process.connect()) for _ in range(400)]
        assert is_served(process)
        assert all(connection.is_closed() for connection in connections[:200]), "the oldest made room for the others"
        for connection in connections:
            connection.__exit__()
        wait_for(lambda: is_served(process))

        assert sum(map(len, process.errors)) < 10_000
