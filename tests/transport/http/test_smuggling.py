"""No request hides inside another (RFC 9112, 11.2)."""

from __future__ import annotations

import re
import socket

import pytest

from tests.fixtures.live import PATIENCE, HttpProcess
from tests.transport.http.smuggling import shapes

MARKER = b"GET /healthz?marker HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
"""The last request; a server that lost its place in the stream does not see it as one."""

SHAPES = {name: (raw, statuses) for name, raw, statuses in shapes()}


def statuses_of(port: int, raw: bytes) -> tuple[int, ...]:
    """The statuses of every response to some bytes and the marker, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(raw + MARKER)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    return tuple(map(int, re.findall(rb"HTTP/1\.1 (\d{3}) ", received)))


@pytest.mark.parametrize("name", SHAPES)
def test_a_request_ends_in_one_place_or_is_refused(http: HttpProcess, name: str) -> None:
    raw, statuses = SHAPES[name]

    assert statuses_of(http.port, raw) == statuses


def test_no_shape_hides_another() -> None:
    assert len(SHAPES) == len(list(shapes())) == 143
