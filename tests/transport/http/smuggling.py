"""Requests whose end two HTTP parsers may see in different places (request smuggling), by what is odd about them.

Each is a POST to a path that does not exist, with a request for the health check hidden where a lenient parser would find
it. A server that reads the request as RFC 9112 says answers it with 404 and goes on, or refuses it with 400 and stops.
"""

from __future__ import annotations

from collections.abc import Iterator

HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"

TRANSFER_CODINGS = (
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: CHUNKED",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: chunked, gzip",
    b"Transfer-Encoding: identity, chunked",
    b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: chunked, chunked",
    b"Transfer-Encoding: chunked,",
    b"Transfer-Encoding: , chunked",
    b"Transfer-Encoding: chunked chunked",
    b"Transfer-Encoding: chunked;q=1",
    b'Transfer-Encoding: "chunked"',
    b"Transfer-Encoding: 'chunked'",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding: chunkedx",
    b"Transfer-Encoding: chunk",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: gzip",
    b"Transfer-Encoding:",
    b"Transfer-Encoding: \x0bchunked",
    b"Transfer-Encoding: chunked\x00",
    b"Transfer-Encoding\x00: chunked",
    b"Transfer-Encoding : chunked",
    b"Transfer-Encoding\t: chunked",
    b"Transfer Encoding: chunked",
    b" Transfer-Encoding: chunked",
    b"\tTransfer-Encoding: chunked",
    b"X: y\r\n Transfer-Encoding: chunked",
    b"X: y\nTransfer-Encoding: chunked",
    b"X: y\rTransfer-Encoding: chunked",
    b"Transfer-Encoding:\r\n chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
    b"TE: gzip, chunked",
    b"TE: chunked",
)
"""Alone, and beside a Content-Length that covers the hidden request, so that both readings are there."""

LENGTHS = (
    b"+5",
    b"-5",
    b"-0",
    b"0x5",
    b"5.0",
    b"5e0",
    b"5,",
    b"5, 5",
    b"5,6",
    b"5 5",
    b"5;5",
    b"5\x00",
    b"\x0b5",
    b'"5"',
    b"five",
    b"",
    b"\xef\xbc\x95",
    b"9" * 30,
    b"18446744073709551621",  # 2^64 + 5
    b"5\r\nContent-Length: 5",
    b"5\r\nContent-Length: 6",
    b"5\r\ncontent-length: 0",
    b"5\r\n 6",
)

CHUNKS = (
    b"+5\r\nhello\r\n",
    b"-5\r\nhello\r\n",
    b"0x5\r\nhello\r\n",
    b"5h\r\nhello\r\n",
    b" 5\r\nhello\r\n",
    b"5 \r\nhello\r\n",
    b"5\nhello\r\n",
    b"5\rhello\r\n",
    b"5\r\nhello\n",
    b"5\r\nhello",
    b"5\r\nhelloX\r\n",
    b"5\r\nhello\r\n\r\n",
    b"\r\n5\r\nhello\r\n",
    b"\r\n",
    b"g\r\n",
    b";\r\n",
    b"FFFFFFFFFFFFFFFFF\r\n",
    b"10000000000000005\r\nhello\r\n",  # 2^64 + 5
    b"5;\x00\r\nhello\r\n",
    b"5;a\nb\r\nhello\r\n",
)

REQUEST_LINES = (
    b"POST /x HTTP/2.0",
    b"POST /x HTTP/0.9",
    b"POST /x HTTP/1.2",
    b"POST /x HTTP/1.10",
    b"POST /x HTTP/01.1",
    b"POST /x HTTP/1,1",
    b"POST /x http/1.1",
    b"POST /x HTTP/1.1 ",
    b"POST /x HTTP/1.1\t",
    b"POST /x\tHTTP/1.1",
    b"POST\t/x HTTP/1.1",
    b"POST /x y HTTP/1.1",
    b"POST /x\x00 HTTP/1.1",
    b"POST /x",
    b"POST HTTP/1.1",
    b"POST",
    b" POST /x HTTP/1.1",
    b"post /x HTTP/1.1",
    b"PRI * HTTP/2.0",
    b"CONNECT 127.0.0.1:80 HTTP/1.1",
)

REFUSED = (400,)
"""One refusal, and the connection ends."""

PASSED_OVER = (404, 200)
"""The request is answered as a whole; what follows it is a request of its own, here the marker."""

READ_AS_SENT = {
    "line POST /x HTTP/1.0": PASSED_OVER[:1],
    "length 005": PASSED_OVER,
    "chunk 5;name=value\r\nhello\r\n": PASSED_OVER,
    "chunk 05\r\nhello\r\n": PASSED_OVER,
    "coding TE: trailers": PASSED_OVER,
    "coding alone Transfer-Encoding: chunked": PASSED_OVER,
    "coding alone Transfer-Encoding: CHUNKED": PASSED_OVER,
}
"""Odd, but with one meaning."""


def shapes() -> Iterator[tuple[str, bytes, tuple[int, ...]]]:
    """Name, bytes, and the statuses that must come back."""
    for coding in (*TRANSFER_CODINGS, b"TE: trailers"):
        body = LAST_CHUNK + HIDDEN
        yield _shape("coding", coding, _post(coding + b"\r\nContent-Length: %d" % len(body), body))
    for coding in TRANSFER_CODINGS:
        yield _shape("coding alone", coding, _post(coding, LAST_CHUNK))
    for length in (*LENGTHS, b"005"):
        yield _shape("length", length, _post(b"Content-Length: " + length, b"hello"))
    for chunk in (*CHUNKS, b"5;name=value\r\nhello\r\n", b"05\r\nhello\r\n"):
        yield _shape("chunk", chunk, _post(b"Transfer-Encoding: chunked", chunk + LAST_CHUNK))
    yield _shape("chunked on 1.0", b"", _post(b"Transfer-Encoding: chunked", LAST_CHUNK, b"POST /x HTTP/1.0"))
    for line in (*REQUEST_LINES, b"POST /x HTTP/1.0"):
        yield _shape("line", line, _post(b"Content-Length: 5", b"hello", line))


def _post(fields: bytes, body: bytes, line: bytes = b"POST /x HTTP/1.1") -> bytes:
    return line + b"\r\nHost: 127.0.0.1\r\n" + fields + b"\r\n\r\n" + body


def _shape(kind: str, odd: bytes, raw: bytes) -> tuple[str, bytes, tuple[int, ...]]:
    name = f"{kind} {odd.decode('latin-1')}" if odd else kind
    return name.encode("unicode_escape").decode(), raw, READ_AS_SENT.get(name, REFUSED)
