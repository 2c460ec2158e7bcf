"""A request of one HTTP connection while it is read, heads that are known already, and how one is written down again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from strictwire.fault.failure import Failure
from strictwire.transport.http.rules import NO_HEAD, Head

HEAD_END: Final = b"\r\n\r\n"

MAX_KNOWN_HEAD: Final = 4096
MAX_KNOWN_HEADS: Final = 256
"""Bytes of a head that is remembered, and how many are."""


class Incoming(msgspec.Struct):
    """A request that is being read."""

    url: bytes = b""
    pairs: list[tuple[bytes, bytes]] = []
    """Header fields but Content-Length, which is the only one that differs from request to request."""
    length: bytes = b"0"
    verb: str = ""
    keep_alive: bool = True
    head: Head = NO_HEAD
    refusal: Failure | None = None
    size: int = 0
    """Of the body, also where it is not kept."""
    body: list[bytes] = []


class Heads:
    """Heads that have been read and were fine, by their bytes: clients repeat theirs, and reading one costs more than the
    rest of a small call."""

    def __init__(self) -> None:
        self._known: dict[bytes, Incoming] = {}

    def find(self, data: bytes) -> Incoming | None:
        """The request that the bytes are, if they are exactly one and its head is known."""
        end = data.find(HEAD_END) + len(HEAD_END)
        known = self._known.get(data[:end])
        if known is None or len(data) - end != known.size:
            return None
        return Incoming(known.url, known.pairs, known.length, known.verb, True, known.head, None, known.size, [data[end:]])

    def learn(self, data: bytes, incoming: Incoming) -> None:
        """Remember the head of a request that the bytes are, if they are exactly one."""
        end = data.find(HEAD_END) + len(HEAD_END)
        # With a body in chunks, or one that is announced first, the bytes are not just a head and as much as it says.
        plain = incoming.refusal is None and incoming.keep_alive and incoming.head.headers.get("expect") is None
        if not plain or end > MAX_KNOWN_HEAD or len(data) - end != incoming.size or int(incoming.length) != incoming.size:
            return
        if len(self._known) >= MAX_KNOWN_HEADS:
            self._known.clear()
        self._known[data[:end]] = msgspec.structs.replace(incoming, body=[])


def write_whole(incoming: Incoming) -> bytes:
    """A request as it could have been sent: with its length, and without asking whether to send the body."""
    body = b"".join(incoming.body)
    kept = _without(incoming, b"transfer-encoding", b"expect")
    return _write_head(incoming, [*kept, (b"Content-Length", b"%d" % len(body))]) + body


def write_head_without_offer(incoming: Incoming) -> bytes:
    """A head without its offer of another protocol."""
    kept = _without(incoming, b"connection", b"upgrade")
    kept += [] if incoming.keep_alive else [(b"Connection", b"close")]
    kept += [(b"Content-Length", incoming.length)] if incoming.length != b"0" else []
    return _write_head(incoming, kept)


def _without(incoming: Incoming, *names: bytes) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in incoming.pairs if name.lower() not in names]


def _write_head(incoming: Incoming, pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    fields = b"".join(b"%b: %b\r\n" % pair for pair in pairs)
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (incoming.verb.encode(), incoming.url, fields)
