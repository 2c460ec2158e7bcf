"""One HTTP/1.1 exchange over a plain socket: sends the given bytes unchanged and reads one response.

For requests that an HTTP library would correct or refuse to send: a wrong Host, unusual content types, duplicate headers,
bodies that are not JSON. httptools parses the response. No redirects, cookies, compression or connection pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import urlsplit

import httptools

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge

MAX_BODY: Final = 8 * 1024 * 1024
"""Largest body of a response: twice the largest message that our server accepts."""

_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The location of an HTTP endpoint."""

    host: str
    port: int
    path: str
    tls: bool

    @property
    def authority(self) -> str:
        """The correct value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The origin of pages on the same server."""
        return f"{'https' if self.tls else 'http'}://{self.authority}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """The response of the server."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """Names in lower case and values, in the order of the response."""
    body: bytes
    complete: bool = True
    """False if reading stopped before the end of the response."""

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next((value for key, value in self.headers if key == name), None)


def parse_address(url: str) -> Address:
    """Parse an http or https URL. Raises CannotReach for any other URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise CannotReach(url, "not a valid URL") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CannotReach(url, "expected a URL such as http://HOST:PORT/PATH or https://HOST/PATH")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    tls = parts.scheme == "https"
    return Address(host=parts.hostname, port=port or (443 if tls else 80), path=path, tls=tls)


def render_request(verb: str, path: str, headers: Sequence[tuple[str, str]], body: bytes = b"") -> bytes:
    """Encode a request. Adds Connection, and Content-Length for a body; everything else is sent as given."""
    lines = [f"{verb} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "Connection: close"]
    if body or verb == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body


@dataclass(slots=True)
class _Collector:
    """The callbacks of httptools, which store the parts of the response."""

    limit: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    has_headers: bool = False
    is_complete: bool = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        self.has_headers = True

    def on_body(self, chunk: bytes) -> None:
        self.body += chunk

    def on_message_complete(self) -> None:
        self.is_complete = True


async def exchange(
    address: Address,
    raw: bytes,
    *,
    seconds: float,
    max_body: int = MAX_BODY,
    until: Callable[[RawAnswer], bool] | None = None,
) -> RawAnswer:
    """Send the bytes and read one response. An event stream may never end: `until` decides when to stop reading.

    Raises CannotReach, ServerGone (no response, or not HTTP), TimedOut, TooLarge. If the time is up after the headers have
    arrived, the partial response is returned with `complete=False`.
    """
    pipe = await _connect(address, seconds)
    sending = asyncio.create_task(_send(pipe, raw))
    collector = _Collector(max_body)
    parser = httptools.HttpResponseParser(collector)
    try:
        async with asyncio.timeout(seconds):
            await _receive(pipe, parser, collector, until)
    except TimeoutError as exc:
        if not collector.has_headers:
            raise TimedOut("HTTP request", seconds) from exc
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await pipe.close()
    if not collector.has_headers:
        raise ServerGone
    return _answer(parser, collector)


class _Pipe(Protocol):
    """A connection. Reading continues after sending has failed, if the platform allows it: the server may answer early."""

    async def send(self, raw: bytes) -> None: ...
    async def receive(self) -> bytes: ...
    async def close(self) -> None: ...


class _SocketPipe:
    """A plain socket. It can still read a response that arrived before a reset; the streams of asyncio drop it."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._loop = asyncio.get_running_loop()

    async def send(self, raw: bytes) -> None:
        await self._loop.sock_sendall(self._socket, raw)

    async def receive(self) -> bytes:
        return await self._loop.sock_recv(self._socket, _CHUNK)

    async def close(self) -> None:
        self._socket.close()


class _TlsPipe:
    """A TLS connection, which needs the streams of asyncio."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, raw: bytes) -> None:
        for start in range(0, len(raw), _CHUNK):
            self._writer.write(raw[start : start + _CHUNK])
            await self._writer.drain()

    async def receive(self) -> bytes:
        return await self._reader.read(_CHUNK)

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await self._writer.wait_closed()


async def _connect(address: Address, seconds: float) -> _Pipe:
    try:
        async with asyncio.timeout(seconds):
            if address.tls:
                context = ssl.create_default_context()
                return _TlsPipe(*await asyncio.open_connection(address.host, address.port, ssl=context))
            return _SocketPipe(await _connect_socket(address))
    except TimeoutError as exc:
        raise CannotReach(address.authority, f"no connection within {seconds:g} s") from exc
    except socket.gaierror as exc:
        raise CannotReach(address.authority, "no such host") from exc
    except OSError as exc:
        raise CannotReach(address.authority, os.strerror(exc.errno) if exc.errno else "no connection") from exc


async def _connect_socket(address: Address) -> socket.socket:
    """Connect to the first address of the host that accepts connections."""
    loop = asyncio.get_running_loop()
    candidates = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    error = OSError()
    for family, kind, protocol, _, address_info in candidates:
        connected = socket.socket(family, kind, protocol)
        connected.setblocking(False)
        try:
            await loop.sock_connect(connected, address_info)
        except OSError as exc:
            connected.close()
            error = exc
        except BaseException:
            connected.close()
            raise
        else:
            return connected
    raise error


async def _send(pipe: _Pipe, raw: bytes) -> None:
    """Send the request. A server may respond and close before it has read a large body, so an error here is ignored."""
    with contextlib.suppress(OSError):
        await pipe.send(raw)


async def _receive(
    pipe: _Pipe,
    parser: httptools.HttpResponseParser,
    collector: _Collector,
    until: Callable[[RawAnswer], bool] | None,
) -> None:
    while not collector.is_complete:
        try:
            chunk = await pipe.receive()
        except OSError:
            return
        if not chunk:
            # A body without a length ends when the connection is closed.
            collector.is_complete = collector.has_headers and _ends_with_connection(collector.headers)
            return
        try:
            parser.feed_data(chunk)
        except httptools.HttpParserError:
            return
        if len(collector.body) > collector.limit:
            raise TooLarge("a body", collector.limit)
        if until is not None and collector.has_headers and until(_answer(parser, collector)):
            return


def _ends_with_connection(headers: Sequence[tuple[str, str]]) -> bool:
    names = {name for name, _ in headers}
    return not names & {"content-length", "transfer-encoding"}


def _answer(parser: httptools.HttpResponseParser, collector: _Collector) -> RawAnswer:
    return RawAnswer(
        status=parser.get_status_code(),
        headers=tuple(collector.headers),
        body=bytes(collector.body),
        complete=collector.is_complete,
    )
