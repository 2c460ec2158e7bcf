"""Sends a request with the author's HTTP client and reads the response within a limit.

httpx, httpx2 and aiohttp stream responses, so a response that never ends costs no more memory than the limit. Any other
client reads the response itself, and only the size of the result is checked.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol

from strictwire.fault.failure import Refused, fail
from strictwire.fault.raised import ToolError

CHUNK: Final = 65_536
"""Bytes that are read at a time from aiohttp."""

MAX_FAILURE_BYTES: Final = 65_536
"""Bytes of a response that is no success: enough for the reason in it."""

ENCODINGS: Final = "gzip, deflate"
"""What the API may compress with. zlib decompresses these with a limit; other formats turn a few bytes into gigabytes."""


class HttpClient(Protocol):
    """A client such as `httpx.AsyncClient` or `aiohttp.ClientSession`. It has the address of the API and the credentials."""

    def request(self, *args: Any, **options: Any) -> Any:
        """Send a request: method, URL, and `params`, `headers`, `json` by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response that has been read."""

    status: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """How a client streams a response."""

    open: Callable[[Any, str, str, dict[str, Any]], AbstractAsyncContextManager[Any]]
    status: Callable[[Any], int]
    encoding: Callable[[Any], str]
    """The encoding that is left to decode."""
    chunks: Callable[[Any], AsyncIterator[bytes]]


_HTTPX: Final = Library(
    open=lambda client, method, path, options: client.stream(method, path, **options),
    status=lambda response: int(response.status_code),
    encoding=lambda response: str(response.headers.get("content-encoding", "")),
    chunks=lambda response: response.aiter_raw(),
)

LIBRARIES: Final[Mapping[str, Library]] = MappingProxyType(
    {
        "httpx": _HTTPX,
        "httpx2": _HTTPX,
        "aiohttp": Library(
            # httpx follows no redirects unless the client says so; aiohttp has no such setting of a client.
            open=lambda client, method, path, options: client.request(method, path, allow_redirects=False, **options),
            status=lambda response: int(response.status),
            encoding=lambda _response: "",
            chunks=lambda response: response.content.iter_chunked(CHUNK),
        ),
    }
)
"""By the top-level package of the client's class. aiohttp decodes by itself, at most 32 MB at a time."""


def library_of(client: object) -> Library | None:
    """How a client streams; None if that is not known."""
    packages = (each.__module__.partition(".")[0] for each in type(client).__mro__)
    return next((LIBRARIES[name] for name in packages if name in LIBRARIES), None)


async def send(client: HttpClient, method: str, path: str, options: dict[str, Any], limit: int) -> Response:
    """Send a request and read the response.

    Raises what the client raises; EOFError: the response is incomplete; Refused(CAP_EXCEEDED): a successful response is
    larger than the limit; ToolError: it is compressed in a format that was not asked for.
    """
    library = library_of(client)
    if library is None:
        whole = await client.request(method, path, **options)
        response = Response(status=int(whole.status_code), content=bytes(whole.content))
        if len(response.content) > limit and is_success(response.status):
            raise _exceeded(limit)
        return response
    options["headers"] = {**options.get("headers", {}), "Accept-Encoding": ENCODINGS}
    async with library.open(client, method, path, options) as streamed:
        status = library.status(streamed)
        if not is_success(status):
            limit = min(limit, MAX_FAILURE_BYTES)
        body = Body(library.encoding(streamed), limit)
        async for chunk in library.chunks(streamed):
            if not body.add(chunk):
                break
    if body.is_exceeded and is_success(status):
        raise _exceeded(limit)
    if body.is_cut:
        raise EOFError("the compressed response is incomplete")
    return Response(status=status, content=bytes(body.content))


def is_success(status: int) -> bool:
    """Whether a response has a result."""
    return 200 <= status < 300


def _exceeded(limit: int) -> Refused:
    return Refused(fail("CAP_EXCEEDED", details={"limitBytes": limit}))


class Body:
    """A body in the making, of limited size."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Raises ToolError: the encoding was not asked for."""
        if encoding.strip().lower() not in ("", "identity", "gzip", "deflate"):
            raise ToolError("The API answered with a compression that it was not asked for")
        is_compressed = encoding.strip().lower() in ("gzip", "deflate")
        # 47: the window of 32 KB, for both gzip and zlib headers.
        self._inflate = zlib.decompressobj(wbits=47) if is_compressed else None
        self._limit = limit
        self._has_begun = False
        self.content = bytearray()
        self.is_exceeded = False

    def add(self, chunk: bytes) -> bool:
        """Add a chunk. Returns whether to go on: not after the limit, nor after the end of compressed data."""
        self._has_begun = self._has_begun or bool(chunk)
        for part in self._decoded(chunk):
            room = self._limit - len(self.content)
            self.content += part[:room]
            if len(part) > room:
                self.is_exceeded = True
                return False
        return self._inflate is None or not self._inflate.eof

    @property
    def is_cut(self) -> bool:
        """Whether compressed data ended before its end. An empty body, as that of HEAD, has none."""
        return self._inflate is not None and not self._inflate.eof and not self.is_exceeded and self._has_begun

    def _decoded(self, chunk: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            yield chunk
            return
        part = self._inflate.decompress(chunk, CHUNK)
        yield part
        # A full part may leave input, or only output, behind.
        while len(part) == CHUNK:
            part = self._inflate.decompress(self._inflate.unconsumed_tail, CHUNK)
            yield part
