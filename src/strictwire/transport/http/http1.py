"""HTTP/1.1 messages as bytes: responses, chunks of a body, and requests that are read again."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from strictwire.profiles.endpoint import Reply
from strictwire.transport.http.cors import HeaderFields

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"

_PHRASES: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_OK: Final = HTTPStatus.OK.value
_NO_CONTENT: Final = HTTPStatus.NO_CONTENT.value
_JSON_RESPONSE: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"


def render_response(reply: Reply, *, method: str, keep_alive: bool) -> bytes:
    """A whole response. One to HEAD has the length of a body, and no body."""
    body = reply.body or b""
    if reply.status == _OK and not reply.headers and reply.body is not None and keep_alive:
        return _JSON_RESPONSE % (len(body), b"" if method == "HEAD" else body)
    head = render_head(reply.status, response_fields(reply), keep_alive=keep_alive)
    return head + (b"" if method == "HEAD" else body)


def response_fields(reply: Reply) -> HeaderFields:
    """The header fields of a whole response, with type and length of the body."""
    fields = reply.headers
    if reply.body is not None and not any(name.lower() == "content-type" for name, _ in fields):
        fields = (*fields, ("Content-Type", "application/json"))
    if reply.status == _NO_CONTENT:  # RFC 9110, 8.6: 204 has no Content-Length
        return fields
    return (*fields, ("Content-Length", str(len(reply.body or b""))))


def render_head(status: int, fields: Iterable[tuple[str, str]], *, keep_alive: bool) -> bytes:
    """Status line and header fields, with the empty line after them."""
    lines = [b"HTTP/1.1 %d %b" % (status, _PHRASES.get(status, b""))]
    lines += [b"%b: %b" % (name.encode(), value.encode("latin-1")) for name, value in fields]
    if not keep_alive:
        lines.append(b"Connection: close")
    return b"\r\n".join([*lines, b"", b""])


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def render_request_head(method: str, target: bytes, version: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Request line and header fields, with the empty line after them."""
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    return b"%b %b HTTP/%b\r\n%b\r\n" % (method.encode(), target, version.encode(), lines)
