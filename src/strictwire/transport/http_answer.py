"""The bytes of an HTTP answer."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Final

from strictwire.canon.json import render
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure
from strictwire.profiles.endpoint import Reply

_PHRASES: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_OK: Final = HTTPStatus.OK.value
_NO_CONTENT: Final = HTTPStatus.NO_CONTENT.value
_PLAIN: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%b\r\n%b"


def write_answer(reply: Reply, extra: bytes, *, keep: bool, verb: str) -> bytes:
    """An answer with further header lines; `keep` says whether another request may follow."""
    body = reply.body or b""
    shown = b"" if verb == "HEAD" else body
    if reply.status == _OK and not reply.headers and reply.body is not None and keep:
        return _PLAIN % (len(body), extra, shown)
    write_head = _write_head if reply.headers else _known_head  # a session's id is not kept here
    head = write_head(reply.status, reply.headers, reply.body is not None, keep)
    length = b"" if reply.status == _NO_CONTENT else b"Content-Length: %d\r\n" % len(body)
    return b"%b%b%b\r\n%b" % (head, length, extra, shown)


def _write_head(status: int, headers: tuple[tuple[str, str], ...], has_body: bool, keep: bool) -> bytes:
    """All of a head that does not depend on the length of the body."""
    head = [b"HTTP/1.1 %d %b\r\n" % (status, _PHRASES.get(status, b""))]
    head += [b"%b: %b\r\n" % (name.encode(), value.encode("latin-1")) for name, value in headers]
    if has_body and "content-type" not in {name.lower() for name, _ in headers}:
        head.append(b"Content-Type: application/json\r\n")
    if not keep:
        head.append(b"Connection: close\r\n")
    return b"".join(head)


_known_head = lru_cache(maxsize=64)(_write_head)


def problem(failure: Failure) -> Reply:
    """A failure that no endpoint was asked about."""
    headers = (("Content-Type", http_dialect.MEDIA_TYPE), *http_dialect.headers_of(failure).items())
    body = render(http_dialect.render(failure, Facts()))
    return Reply(body=body, status=http_dialect.status_of(failure), headers=headers)
