"""A request of one HTTP connection while it is read, and how it is written down again."""

from __future__ import annotations

from collections.abc import Iterable

from strictwire.fault.failure import Failure
from strictwire.transport.http_head import NO_HEAD


class Incoming:
    """A request that is being read."""

    __slots__ = ("body", "head", "keep_alive", "length", "pairs", "refusal", "size", "url", "verb")

    def __init__(self, refusal: Failure | None = None) -> None:
        self.url = b""
        self.pairs: list[tuple[bytes, bytes]] = []
        """Header fields but Content-Length, which is the only one that differs from request to request."""
        self.length = b"0"
        self.verb = ""
        self.keep_alive = True
        self.head = NO_HEAD
        self.refusal = refusal
        self.body: list[bytes] = []
        self.size = 0


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
