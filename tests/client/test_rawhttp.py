"""Raw HTTP exchanges with a scripted server: framing, early responses, limits, streams."""

from __future__ import annotations

import asyncio

import pytest

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge
from strictwire.client.rawhttp import Address, RawAnswer, exchange, parse_address, render_request


def answered(
    reply: bytes, *, request: bytes = b"GET / HTTP/1.1\r\n\r\n", read_first: bool = True, hold: bool = False, **kw: object
) -> RawAnswer:
    """The result of `exchange` with a server that sends these bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if read_first:
            await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        if hold:
            await reader.read()
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        finished.set()

    finished = asyncio.Event()

    async def main() -> RawAnswer:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        address = Address(host="127.0.0.1", port=port, path="/", tls=False)
        try:
            return await exchange(address, request, **{"seconds": 5.0, **kw})  # type: ignore[arg-type]
        finally:
            async with asyncio.timeout(5):
                await finished.wait()
            server.close()

    return asyncio.run(main())


HEAD = b"HTTP/1.1 200 OK\r\nX-One: 1\r\nx-one: 2\r\n"


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        (b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", b"hello"),
        (b"\r\nhello", b"hello"),
    ],
)
def test_a_body_is_read_with_every_kind_of_framing(framing: bytes, body: bytes) -> None:
    answer = answered(HEAD + framing)

    assert (answer.status, answer.body, answer.complete, answer.header("x-one")) == (200, body, True, "1")


def test_a_truncated_body_is_not_complete() -> None:
    assert answered(HEAD + b"Content-Length: 9\r\n\r\nhello").complete is False


def test_a_response_before_the_end_of_the_request_is_read() -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"
    request = render_request("POST", "/", [("Host", "a")], b"x" * 8_000_000)

    assert answered(refusal, request=request).status == 413


def test_reading_of_a_stream_stops_when_until_returns_true() -> None:
    reply = HEAD + b"Content-Type: text/event-stream\r\n\r\ndata: 1\n\n"

    answer = answered(reply, hold=True, until=lambda seen: b"data: 1" in seen.body)

    assert (answer.body, answer.complete) == (b"data: 1\n\n", False)


def test_a_timeout_after_the_headers_returns_the_partial_response() -> None:
    answer = answered(HEAD + b"\r\npart", hold=True, seconds=0.3)

    assert (answer.body, answer.complete) == (b"part", False)


def test_no_valid_response_is_an_error() -> None:
    with pytest.raises(ServerGone):
        answered(b"")
    with pytest.raises(ServerGone):
        answered(b"this is not HTTP\r\n\r\n")
    with pytest.raises(TimedOut):
        answered(b"", hold=True, seconds=0.2)


def test_a_body_larger_than_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge):
        answered(HEAD + b"\r\n" + b"x" * 5000, max_body=1000)


def test_a_request_is_encoded_as_given() -> None:
    raw = render_request("POST", "/mcp", [("Host", "a"), ("Host", "b")], b"{}")

    assert raw == b"POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    ("url", "authority", "path", "origin"),
    [
        ("http://localhost:8808/mcp?x=1", "localhost:8808", "/mcp?x=1", "http://localhost:8808"),
        ("https://example.com", "example.com", "/", "https://example.com"),
        ("http://[::1]:80/a", "[::1]", "/a", "http://[::1]"),
    ],
)
def test_a_url_is_parsed_to_an_address(url: str, authority: str, path: str, origin: str) -> None:
    address = parse_address(url)

    assert (address.authority, address.path, address.origin) == (authority, path, origin)


@pytest.mark.parametrize("url", ["", "ftp://a/", "http://", "http://a:99999999/", "http://[bad"])
def test_an_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(CannotReach):
        parse_address(url)
