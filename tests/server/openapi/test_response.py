"""Responses of an API: read as a stream, within the limit, with every client that can stream."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import httpx2
import pytest

from strictwire import MemoryClient, Server
from strictwire.contract.tool import Caps
from strictwire.fault.failure import Refused
from strictwire.server.openapi.response import CHUNK, Body, Response, send
from tests.fixtures.api import document
from tests.fixtures.stories import story
from tests.server.openapi.test_openapi import FAILURES, RESULTS, ApiProcess

LIMIT = Caps().response_bytes
BUFFERS = 16 * 1024 * 1024
"""What sockets and clients may hold beyond the limit."""


def api_document(media: str = "application/json") -> dict[str, Any]:
    schema = {"type": "object"} if media == "application/json" else {"type": "string"}
    content = {media: {"schema": schema}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "endless", "version": "1.0.0"},
        "paths": {"/": {"get": {"operationId": "read", "responses": {"200": {"content": content}}}}},
    }


Write = Callable[[asyncio.StreamWriter, list[int]], Awaitable[None]]


@asynccontextmanager
async def http_server(head: bytes, write: Write) -> AsyncIterator[tuple[str, list[int]]]:
    """A server that answers every request with a head and what `write` writes. Yields its URL and the bytes written."""
    written: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 " + head + b"Connection: close\r\n\r\n")
        try:
            await write(writer, written)
        except ConnectionError:
            pass  # the client has read enough
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", written


async def write_endlessly(writer: asyncio.StreamWriter, written: list[int]) -> None:
    part = b'{"a": "' + b"x" * CHUNK
    while True:
        writer.write(part)
        await writer.drain()
        written.append(len(part))


CLIENTS: dict[str, Callable[[str], Any]] = {
    "httpx2": lambda url: httpx2.AsyncClient(base_url=url),
    "aiohttp": lambda url: aiohttp.ClientSession(url),
}
clients = pytest.mark.parametrize("client", CLIENTS)


async def call(
    url: str,
    client: str,
    tool: str = "read",
    arguments: dict[str, Any] | None = None,
    described: dict[str, Any] | None = None,
) -> Any:
    async with CLIENTS[client](url) as opened:
        server = Server.from_openapi(described or api_document(), opened)
        async with MemoryClient(server) as connection:
            return await connection.call_tool(tool, arguments)


@clients
@story
async def test_a_response_that_never_ends_is_refused_at_the_limit(client: str) -> None:
    async with http_server(b"200 OK\r\nContent-Type: application/json\r\n", write_endlessly) as (url, written):
        answer = await call(url, client)

    error = answer["structuredContent"]["error"]
    assert (error["code"], error["details"]) == ("CAP_EXCEEDED", {"limitBytes": LIMIT})
    assert LIMIT <= sum(written) < LIMIT + BUFFERS


@clients
@story
async def test_a_failure_that_never_ends_is_a_failure_of_its_status(client: str) -> None:
    async with http_server(b"503 Busy\r\nContent-Type: application/json\r\n", write_endlessly) as (url, written):
        answer = await call(url, client)

    error = answer["structuredContent"]["error"]
    assert (error["code"], error["details"]) == ("UNAVAILABLE", {"status": 503})
    assert sum(written) < BUFFERS


@clients
@story
async def test_compressed_data_is_limited_by_what_it_becomes(client: str) -> None:
    packed = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packed.compress(b"x" * 1_000_000) for _ in range(200)) + packed.flush()

    async def write(writer: asyncio.StreamWriter, _written: list[int]) -> None:
        writer.write(bomb)
        await writer.drain()

    head = b"200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n"
    async with http_server(head, write) as (url, _written):
        answer = await call(url, client)

    assert len(bomb) < LIMIT
    assert answer["structuredContent"]["error"]["code"] == "CAP_EXCEEDED"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
@clients
@story
async def test_a_compressed_response_is_read_whole(client: str, encoding: str) -> None:
    plain = b'{"a": "%b"}' % (b"x" * (3 * CHUNK))
    body = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}[encoding](plain)

    async def write(writer: asyncio.StreamWriter, _written: list[int]) -> None:
        for start in range(0, len(body), 100):
            writer.write(body[start : start + 100])
            await writer.drain()

    head = f"200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {encoding}\r\n".encode()
    async with http_server(head, write) as (url, _written):
        answer = await call(url, client)

    assert answer["structuredContent"] == {"a": "x" * (3 * CHUNK)}


@pytest.mark.parametrize("cut", [-9, 10], ids=["without its end", "only the header"])
@story
async def test_compressed_data_without_its_end_is_no_result(caplog: pytest.LogCaptureFixture, cut: int) -> None:
    async def write(writer: asyncio.StreamWriter, _written: list[int]) -> None:
        writer.write(gzip.compress(b'{"a": 1}')[:cut])
        await writer.drain()

    head = b"200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
    async with http_server(head, write) as (url, _written):
        answer = await call(url, "httpx2")

    assert answer["structuredContent"]["error"]["code"] == "UNAVAILABLE"
    assert "the compressed response is incomplete" in caplog.text


@story
async def test_a_compression_that_was_not_asked_for_is_refused() -> None:
    async def write(_writer: asyncio.StreamWriter, _written: list[int]) -> None:
        pass

    head = b"200 OK\r\nContent-Type: application/json\r\nContent-Encoding: zstd\r\n"
    async with http_server(head, write) as (url, _written):
        answer = await call(url, "httpx2")

    assert answer["structuredContent"]["error"]["message"] == (
        "The API answered with a compression that it was not asked for"
    )


@clients
@story
async def test_redirects_are_not_followed(client: str) -> None:
    async def write(_writer: asyncio.StreamWriter, _written: list[int]) -> None:
        pass

    async with http_server(b"302 Found\r\nLocation: /other\r\n", write) as (url, _written):
        answer = await call(url, client)

    assert answer["structuredContent"]["error"]["details"] == {"status": 302}


@story
async def test_every_operation_works_with_aiohttp() -> None:
    process = ApiProcess("api.py")
    try:
        url = f"http://127.0.0.1:{process.port}"
        answers = [await call(url, "aiohttp", name, given, document()) for name, given, _ in RESULTS]
        failed = [await call(url, "aiohttp", name, given, document()) for name, given, *_ in FAILURES]
    finally:
        process.close()

    assert [each["structuredContent"] for each in answers] == [expected for *_, expected in RESULTS]
    assert [each["structuredContent"]["error"]["code"] for each in failed] == [code for _, _, code, _ in FAILURES]


class WholeResponse:
    def __init__(self, status_code: int, content: bytes) -> None:
        self.status_code, self.content = status_code, content


class OtherClient:
    """A client that reads responses itself."""

    def __init__(self, response: WholeResponse) -> None:
        self._response = response

    async def request(self, _method: str, _url: str, **_options: Any) -> WholeResponse:
        return self._response


@story
async def test_another_client_reads_the_response_and_its_size_is_checked() -> None:
    exact = await send(OtherClient(WholeResponse(200, b"12345")), "GET", "/", {}, 5)
    failed = await send(OtherClient(WholeResponse(500, b"123456")), "GET", "/", {}, 5)
    with pytest.raises(Refused) as caught:
        await send(OtherClient(WholeResponse(200, b"123456")), "GET", "/", {}, 5)

    assert (exact, failed) == (Response(status=200, content=b"12345"), Response(status=500, content=b"123456"))
    assert (caught.value.failure.code, dict(caught.value.failure.details)) == ("CAP_EXCEEDED", {"limitBytes": 5})


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7])
def test_a_body_is_exact_around_the_size_of_a_chunk(size: int) -> None:
    plain = bytes(size)
    for encoding, packed in (("", plain), ("gzip", gzip.compress(plain)), ("deflate", zlib.compress(plain))):
        for limit, is_exceeded in ((size, False), (size - 1, size > 0)):
            body = Body(encoding, max(limit, 0))
            body.add(packed)

            assert (body.is_exceeded, len(body.content)) == (is_exceeded, min(size, max(limit, 0)))


def test_data_after_the_end_of_compressed_data_is_not_read() -> None:
    body = Body("gzip", 100)

    assert (body.add(gzip.compress(b"all") + b"more"), bytes(body.content), body.is_cut) == (False, b"all", False)
