"""Raw HTTP exchanges with a scripted server: framing, early answers, limits, streams."""

from __future__ import annotations

import asyncio

import pytest

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge
from strictwire.client.rawhttp import Address, RawAnswer, exchange, parse_address, render_request


def answered(
    reply: bytes, *, request: bytes = b"GET / HTTP/1.1\r\n\r\n", read_first: bool = True, hold: bool = False, **kw: object
) -> RawAnswer:
    """What `exchange` makes of these bytes."""

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
def test_every_framing_of_a_body_is_read(framing: bytes, body: bytes) -> None:
    answer = answered(HEAD + framing)

    assert (answer.status, answer.body, answer.complete, answer.header("x-one")) == (200, body, True, "1")


def test_a_body_that_stops_short_is_not_complete() -> None:
    assert answered(HEAD + b"Content-Length: 9\r\n\r\nhello").complete is False


def test_an_answer_before_the_body_was_read_is_seen() -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"
    request = render_request("POST", "/", [("Host", "a")], b"x" * 8_000_000)

    assert answered(refusal, request=request).status == 413


def test_a_stream_is_left_when_enough_was_seen() -> None:
    reply = HEAD + b"Content-Type: text/event-stream\r\n\r\ndata: 1\n\n"

    answer = answered(reply, hold=True, until=lambda seen: b"data: 1" in seen.body)

    assert (answer.body, answer.complete) == (b"data: 1\n\n", False)


def test_time_runs_out_with_what_came_so_far() -> None:
    answer = answered(HEAD + b"\r\npart", hold=True, seconds=0.3)

    assert (answer.body, answer.complete) == (b"part", False)


def test_no_answer_at_all() -> None:
    with pytest.raises(ServerGone):
        answered(b"")
    with pytest.raises(ServerGone):
        answered(b"this is not HTTP\r\n\r\n")
    with pytest.raises(TimedOut):
        answered(b"", hold=True, seconds=0.2)


def test_a_body_beyond_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge):
        answered(HEAD + b"\r\n" + b"x" * 5000, max_body=1000)


def test_a_request_is_written_as_given() -> None:
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
def test_addresses(url: str, authority: str, path: str, origin: str) -> None:
    address = parse_address(url)

    assert (address.authority, address.path, address.origin) == (authority, path, origin)


@pytest.mark.parametrize("url", ["", "ftp://a/", "http://", "http://a:99999999/", "http://[bad"])
def test_what_is_no_address_cannot_be_reached(url: str) -> None:
    with pytest.raises(CannotReach):
        parse_address(url)
