"""Connections and memory that clients share, over real sockets: a client with a token gets its part of both."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import select
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from strictwire.transport.http.gatekeeper import Gatekeeper
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.pool import ConnectionPool
from strictwire.transport.http.rules import Site
from tests.fixtures.live import PATIENCE, HttpConnection, HttpProcess, modern, modern_headers, request, serve_http, wait_for

KILOBYTE, MEGABYTE = 1024, 1024 * 1024
LONG = 3600.0
"""Seconds of a limit that must not be the one that ends a connection."""
PLACES = 12
"""Connections that the server of these tests takes: eight, and four that are not authorised yet."""

Serve = Callable[..., AbstractContextManager[HttpProcess]]

ADD = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """A server with the tokens `ann` and `mallory`, and few places."""
    settings = tmp_path / "strictwire.toml"
    settings.write_text(
        "".join(
            f'[[server.tokens]]\nsha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\nprincipal = "{name}"\n'
            for name in ("ann", "mallory")
        )
    )
    usual = {"max_connections": 8, "max_unproven": 4, "idle_seconds": LONG, "read_seconds": LONG}

    @contextmanager
    def start(**limits: float) -> Iterator[HttpProcess]:
        env = {"HTTP_LIMITS": json.dumps({**usual, **limits})}
        with serve_http("limited:server", "--config", str(settings), env=env) as process:
            yield process

    return start


def raw(token: str, body: bytes, *, port: int) -> bytes:
    return request(body, modern_headers(body, Authorization=f"Bearer {token}"), port=port)


def status(process: HttpProcess, token: str, body: bytes = ADD) -> int:
    return process.ask(body, Authorization=f"Bearer {token}").status


def held_call(name: str) -> bytes:
    return modern(1, "tools/call", {"name": "hold", "arguments": {"name": name}})


def hold(process: HttpProcess, stack: ExitStack, token: str, name: str) -> HttpConnection:
    """A connection whose call has begun and does not end."""
    connection = stack.enter_context(process.connect())
    connection.write(raw(token, held_call(name), port=process.port))
    while f"began {name}" not in str(process.ask(STORY, Authorization="Bearer ann").json()):
        pass
    return connection


STORY = modern(1, "tools/call", {"name": "story", "arguments": {}})

UNPROVEN = {
    "nothing": b"",
    "a piece of a head": b"POST /mcp HTTP/1.1\r\nHos",
    "a wrong token": request(ADD, modern_headers(ADD, Authorization="Bearer x"), port=1).replace(
        b"127.0.0.1:1", b"127.0.0.1"
    ),
    "a body behind a wrong token": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1",
    "a preflight": b"OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("sent", UNPROVEN.values(), ids=UNPROVEN)
def test_clients_without_a_token_do_not_keep_others_out(serve: Serve, sent: bytes) -> None:
    with serve() as process, ExitStack() as stack:
        for _ in range(3 * PLACES):
            stack.enter_context(process.connect()).write(sent)

        assert [status(process, "ann") for _ in range(5)] == [200] * 5


def test_the_oldest_client_without_a_token_makes_room_and_is_told_so(serve: Serve) -> None:
    with serve() as process, ExitStack() as stack:
        first = stack.enter_context(process.connect())
        first.write(UNPROVEN["a piece of a head"])
        assert status(process, "ann") == 200, "so the server has read what came before"
        for _ in range(PLACES):
            stack.enter_context(process.connect())

        answer = first.answer()
        assert (answer.status, answer.headers["Retry-After"], first.is_closed()) == (503, "1", True)


def test_an_authorised_request_in_flight_is_never_closed_for_others(serve: Serve) -> None:
    with serve() as process, ExitStack() as stack:
        running = hold(process, stack, "ann", "x")
        slow = stack.enter_context(process.connect())
        whole = raw("ann", ADD, port=process.port)
        slow.write(whole[:-1])
        assert status(process, "ann") == 200, "so the server has read what came before"
        for _ in range(5 * PLACES):
            stack.enter_context(process.connect()).write(b"P")
        let_go = modern(2, "tools/call", {"name": "let_go", "arguments": {"name": "x"}})
        assert status(process, "ann", let_go) == 200
        slow.write(whole[-1:])

        assert [running.answer().status, slow.answer().status] == [200, 200]


def test_idle_connections_of_the_principal_with_most_of_them_make_room(serve: Serve) -> None:
    with serve() as process, ExitStack() as stack:
        honest = stack.enter_context(process.connect())
        assert honest.post(ADD, modern_headers(ADD, Authorization="Bearer ann")).status == 200
        for _ in range(3 * PLACES):
            idle = stack.enter_context(process.connect())
            assert idle.post(ADD, modern_headers(ADD, Authorization="Bearer mallory")).status == 200

        assert honest.post(ADD, modern_headers(ADD, Authorization="Bearer ann")).status == 200


def test_a_principal_that_is_busy_on_all_connections_leaves_room_for_others(serve: Serve) -> None:
    with serve() as process, ExitStack() as stack:
        for number in range(8):
            hold(process, stack, "mallory", str(number))

        assert (status(process, "mallory"), status(process, "ann")) == (503, 200)


def test_large_bodies_share_a_limit_and_the_principal_that_holds_most_pays(serve: Serve) -> None:
    body = modern(1, "tools/call", {"name": "say", "arguments": {"text": "x" * 400 * KILOBYTE}})
    with serve(max_held=MEGABYTE) as process, ExitStack() as stack:
        mallory = [stack.enter_context(process.connect()) for _ in range(3)]
        for connection in mallory:
            connection.write(raw("mallory", body, port=process.port)[:-1])
        refused, _, _ = select.select([each.socket for each in mallory], [], [], PATIENCE)
        assert [each.answer().status for each in mallory if each.socket in refused] == [503]

        assert status(process, "ann", body) == 200


@pytest.mark.slow
def test_answers_that_are_not_read_share_a_limit(serve: Serve) -> None:
    """40 answers of 3.6 MB that mallory does not read."""
    big = modern(1, "tools/call", {"name": "big", "arguments": {"size": 600_000}})
    with serve(max_connections=64) as process, ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(process.connect()).write(raw("mallory", big, port=process.port))

        assert status(process, "ann", big) == 200
        assert resident(process) < 220 * MEGABYTE


@dataclass(eq=False)
class Held:
    """A connection that holds bytes."""

    principal: str | None
    held_bytes: int
    behind_until: float = math.inf
    idle_until: float = math.inf
    is_idle: bool = False
    evicted: bool = False

    def check_deadlines(self, now: float) -> None: ...

    def close(self) -> None: ...

    def evict(self) -> None:
        self.evicted = True


@pytest.mark.parametrize(
    ("others", "is_kept", "evicted"),
    [
        ([Held("mallory", 60), Held("mallory", 30), Held("bob", 50)], True, [0]),
        ([Held("ann", 60, behind_until=9.0), Held("ann", 30, behind_until=5.0)], True, [1]),
        ([Held("ann", 60), Held("ann", 30), Held("bob", 50)], False, []),
        ([Held("ann", 10), Held("bob", 50)], True, []),
    ],
)
def test_who_holds_most_pays_and_who_does_not_read_before_who_does(
    others: list[Held], is_kept: bool, evicted: list[int]
) -> None:
    async def hold() -> bool:
        site = Site(endpoints={}, gatekeeper=Gatekeeper(), max_body=1)
        pool = ConnectionPool(site, HttpLimits(max_held=100))
        growing = Held("ann", 20)
        for each in (growing, *others):
            assert pool.add(each)
        pool.hold(growing, 0)
        return pool.hold(growing, 101)

    assert asyncio.run(hold()) == is_kept
    assert [number for number, each in enumerate(others) if each.evicted] == evicted


@pytest.mark.slow
def test_refused_calls_leave_no_large_request_in_memory(serve: Serve) -> None:
    """The error of the validator had a traceback, whose frames held the request: 3 MB for each call."""
    body = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2, "more": "x" * 3 * MEGABYTE}})
    with serve() as process, process.connect() as connection:
        for _ in range(60):
            assert b"INVALID" in connection.post(body, modern_headers(body, Authorization="Bearer ann")).body

        assert resident(process) < 160 * MEGABYTE, "180 MB were sent"


@pytest.mark.slow
def test_connections_that_ended_leave_no_body_in_memory(serve: Serve) -> None:
    body = modern(1, "tools/call", {"name": "say", "arguments": {"text": "x" * 3 * MEGABYTE}})
    with serve() as process:
        for _ in range(60):
            with process.connect() as connection, suppress(ConnectionResetError, BrokenPipeError):
                connection.write(raw("ann", body, port=process.port)[:-1])
        wait_for(lambda: status(process, "ann") == 200)

        assert resident(process) < 160 * MEGABYTE, "180 MB were sent"


def resident(process: HttpProcess) -> int:
    """Resident bytes at their peak."""
    lines = Path(f"/proc/{process.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
