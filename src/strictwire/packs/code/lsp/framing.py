"""LSP's base protocol: a header with Content-Length, an empty line, a JSON body. Pure."""

from __future__ import annotations

import re
from typing import Final

from strictwire.canon.json import JsonObject, render

MAX_BODY: Final = 64 * 1024 * 1024
"""Bytes of one message. Workspace diagnostics of Django are 6 MB, 34,000 symbols are 8 MB."""

MAX_HEADER: Final = 1024
"""Bytes of a header; real ones have under 100."""

_LENGTH: Final = re.compile(rb"(?im)^content-length:[ \t]*([0-9]{1,12})[ \t]*\r?$")


class BadFrame(ValueError):
    """Bytes that are not LSP's base protocol, or a message beyond the limit."""


def frame(message: JsonObject) -> bytes:
    """A message with its header."""
    body = render(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Cuts a stream of bytes into bodies."""

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._needed = 0
        """Bytes of the body that is being received; 0 while a header is."""

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are complete now. Raises BadFrame."""
        self._buffer += data
        bodies: list[bytes] = []
        while self._take_header() and len(self._buffer) >= self._needed:
            bodies.append(bytes(self._buffer[: self._needed]))
            del self._buffer[: self._needed]
            self._needed = 0
        return bodies

    def _take_header(self) -> bool:
        """Whether the length of the next body is known."""
        if self._needed:
            return True
        end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEADER)
        if end < 0:
            if len(self._buffer) >= MAX_HEADER:
                raise BadFrame("no header within its limit")
            return False
        found = _LENGTH.search(bytes(self._buffer[: end + 2]))
        self._needed = int(found[1]) if found else 0
        if not 0 < self._needed <= self._max_body:
            raise BadFrame("Content-Length is missing, zero or too large")
        del self._buffer[: end + 4]
        return True
