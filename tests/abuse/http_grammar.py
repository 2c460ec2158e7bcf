"""Clients that break HTTP, or say within it what no client says."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from tests.abuse import json_text
from tests.abuse.arena import MEGABYTE, Arena, Attack, bearer, call
from tests.fixtures.live import PATIENCE, modern, request
from tests.transport.http.smuggling import HIDDEN, LENGTHS, TRANSFER_CODINGS

PORT = "PORT"
"""Stands for the port of the server in a case."""

ADD = call("add", a=1, b=2)

FORBIDDEN = re.compile(rb"HTTP/1\.1 5(?!0[135])\d\d |\"INTERNAL\"|Traceback")
"""No answer contains this: the fault of a client is never reported as one of the server."""

METHODS = (b"GET", b"POST", b"DELETE", b"OPTIONS", b"HEAD", b"PUT", b"TRACE", b"CONNECT", b"PRI", b"post", b"P\x00ST", b"")
TARGETS = (
    b"/mcp",
    b"/",
    b"*",
    b"http://evil/mcp",
    b"/../mcp",
    b"/mcp?" + b"a" * 70_000,
    b"/mcp#x",
    b"//mcp",
    b"/%00",
    b"\xff",
)
VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.1 ", b"http/1.1", b"HTTP/11", b"")
FIELDS = (
    b"Host: evil", b"Origin: http://evil", b"Authorization: Bearer " + b"x" * 9000, b"Mcp-Session-Id: " + b"9" * 5000,
    b"Content-Encoding: gzip", b"Expect: 100-continue", b"Connection: upgrade\r\nUpgrade: h2c", b"Last-Event-ID: -1",
    b"MCP-Protocol-Version: 1999-01-01", b"Accept: " + b"a/b," * 2000, b"X: " + b"y" * 70_000, b": empty", b"\xff: \xff",
    b"Content-Length: 5", *TRANSFER_CODINGS, *(b"Content-Length: " + each for each in LENGTHS),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a client sends on each of its connections, and how it ends them."""

    raw: bytes
    connections: int = 1
    ends: str = "read"
    """`read` the answers; `reset` at once; `hold` all connections open until every one has sent."""


def post(body: bytes) -> bytes:
    """A POST of the attacker; PORT stands for the port."""
    return request(body, {"Host": f"127.0.0.1:{PORT}", **bearer(body)}, port=0)


def posted(make: Callable[[Random], bytes]) -> Callable[[Random], Traffic]:
    """A well-formed request with a hostile body."""

    def generate(random: Random) -> Traffic:
        body = make(random)
        headers = {"Authorization": "Bearer mallory", "Host": f"127.0.0.1:{PORT}"}
        modern_ones = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "say"}
        is_legacy = b'"initialize"' in body
        return Traffic(
            raw=request(body, headers | ({} if is_legacy else modern_ones), port=0), connections=random.choice([1, 3])
        )

    return generate


def damaged(random: Random) -> Traffic:
    return Traffic(raw=json_text.damage(posted(json_text.odd)(random).raw, random, 5), connections=3)


def assembled(random: Random) -> Traffic:
    """A head made of random parts, with a hidden request behind it."""
    parts = (random.choice(METHODS), random.choice(TARGETS), random.choice(VERSIONS))
    fields = [random.choice(FIELDS) for _ in range(random.randint(0, 6))]
    end = random.choice([b"\r\n", b"\n", b"\r", b"\r\n\r\n"])
    host = f"Host: 127.0.0.1:{PORT}".encode()
    return Traffic(raw=end.join([b" ".join(parts), host, *fields, b"", b""]) + HIDDEN)


def pipelined(random: Random) -> Traffic:
    """Many requests in one write, one of them damaged."""
    requests = [post(call("add", number, a=1, b=2)) for number in range(60)]
    requests[random.randrange(60)] = json_text.damage(requests[0], random)
    return Traffic(raw=b"".join(requests))


def long_header(random: Random) -> Traffic:
    """A header without an end, on many connections."""
    return Traffic(
        raw=b"POST /mcp HTTP/1.1\r\n" + random.choice([b"X: ", b"X"]) + b"y" * 2_000_000, connections=30, ends="hold"
    )


def many_headers(random: Random) -> Traffic:
    field = random.choice([b"X: y\r\n", b"Host: a\r\n", b"x-%d: y\r\n"])
    return Traffic(raw=b"POST /mcp HTTP/1.1\r\n" + field * 100_000 + b"\r\n", connections=10)


def tiny_chunks(random: Random) -> Traffic:
    head = re.sub(
        rb"Content-Length: \d+\r\n", b"Transfer-Encoding: chunked\r\n", post(ADD).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    )
    return Traffic(
        raw=head + random.choice([b"1\r\na\r\n", b"1;x=y\r\na\r\n"]) * 400_000 + b"0\r\n" + b"X: y\r\n" * 50_000 + b"\r\n"
    )


def reset_at_once(random: Random) -> Traffic:
    return Traffic(raw=json_text.damage(post(ADD), random), connections=300, ends="reset")


def held_open(random: Random) -> Traffic:
    """Unfinished requests on many connections, without a token."""
    raw = random.choice(
        [b"", b"P", b"POST /mcp HTTP/1.1\r\nHost: x\r\n", b"POST /mcp HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]
    )
    return Traffic(raw=raw, connections=600, ends="hold")


def all_connections(random: Random) -> Traffic:
    """As many connections as the server takes, and more: without a token, or idle after an authorised request."""
    return Traffic(
        raw=random.choice([b"", b"P", b"GET /healthz HTTP/1.1\r\n\r\n", post(ADD)]), connections=2300, ends="hold"
    )


def slow_bodies(random: Random) -> Traffic:
    """Large bodies that never end, with a token: 4 MiB each, 1.2 GB together."""
    body = call("say", text="x" * (random.choice([1, 4]) * MEGABYTE - 1000))
    return Traffic(raw=post(body)[:-1], connections=300, ends="hold")


def kept_bodies(_random: Random) -> Traffic:
    """Large requests on connections that stay open."""
    return Traffic(raw=post(call("add", a=1, b=2, more="x" * (3 * MEGABYTE))), connections=200, ends="hold")


def unread(random: Random) -> Traffic:
    """Large answers for a client that does not read."""
    raw = b"".join(post(call(random.choice(["big", "big_at_once"]), n, size=600_000)) for n in range(4))
    return Traffic(raw=raw, connections=random.choice([15, 300]), ends="hold")


def sessions(random: Random) -> Traffic:
    """Legacy sessions that are opened and left behind."""
    body = json_text.initialize(capabilities={"roots": {}, "experimental": {str(random.random()): {}}})
    headers = {"Authorization": "Bearer mallory", "Host": f"127.0.0.1:{PORT}"}
    return Traffic(raw=request(body, headers, port=0) * 50, connections=20)


def streams(_random: Random) -> Traffic:
    """Event streams that are opened and never read."""
    return Traffic(
        raw=post(modern(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})),
        connections=200,
        ends="hold",
    )


def check(case: Traffic, arena: Arena) -> None:
    """No answer blames the server, and it runs on."""
    server = arena.server
    raw = case.raw.replace(PORT.encode(), str(server.port).encode())
    opened: list[socket.socket] = []
    try:
        opened.extend(_send(server.port, raw, case.ends) for _ in range(case.connections))
        answers = [_read(each) for each in opened] if case.ends == "read" else []
        arena.serve_innocents()  # while the connections are open
    finally:
        for each in opened:
            each.close()
    found = [match[0] for answer in answers for match in FORBIDDEN.finditer(answer)]

    assert found == []
    arena.check_alive(server)


def _send(port: int, raw: bytes, ends: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    if ends == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if ends == "hold":
        connection.settimeout(0.2)  # the server need not read all of it
    with suppress(OSError):
        connection.sendall(raw)
    if ends == "reset":
        connection.close()
    return connection


def _read(connection: socket.socket) -> bytes:
    """All answers. A server that waits for more of the request is given up after two seconds of silence."""
    pieces = []
    connection.settimeout(2.0)
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 20):
            pieces.append(piece)
    return b"".join(pieces)


ATTACK = Attack(
    name="http",
    kinds={
        "damaged": damaged,
        "assembled": assembled,
        "pipelined": pipelined,
        "long_header": long_header,
        "many_headers": many_headers,
        "tiny_chunks": tiny_chunks,
        "reset_at_once": reset_at_once,
        "held_open": held_open,
        "all_connections": all_connections,
        "slow_bodies": slow_bodies,
        "kept_bodies": kept_bodies,
        "unread": unread,
        "sessions": sessions,
        "streams": streams,
        "odd": posted(json_text.odd),
        "deep": posted(json_text.deep),
        "wide": posted(json_text.wide),
        "long_number": posted(json_text.long_number),
        "long_name": posted(json_text.long_name),
        "many_names": posted(json_text.many_names),
        "secret_text": posted(json_text.secret_text),
        "capabilities": posted(json_text.capabilities),
    },
    check=check,
    lengthy=frozenset({"slow_bodies", "kept_bodies"}),
)
