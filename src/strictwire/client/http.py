"""HTTP for sessions: sends a request, and reads the body or the event stream of the response. Wraps aiohttp.

It follows no redirects (a redirected POST would send the token to another server), keeps no cookies, and limits the size of
bodies. `rawhttp` sends malformed HTTP; this module cannot.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import aiohttp

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge
from strictwire.client.sse import MAX_EVENT, Event, SseDecoder

MAX_BODY: Final = 8 * 1024 * 1024
"""Largest body of a response: twice the largest message that our server accepts."""

CONNECTIONS: Final = 100
"""Open connections at the same time. Further requests wait for a free one."""

KEEP_SECONDS: Final = 2.0
"""How long an idle connection is kept for reuse. Common servers close one after 5 s. If a POST meets a connection that is
being closed, the client cannot know whether the server acted on it."""

_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response with its body."""

    status: int
    headers: Mapping[str, str]
    """The first value of each header, by name in lower case."""
    body: bytes


class HttpStream:
    """A response whose headers have arrived. The caller reads the body."""

    def __init__(self, response: aiohttp.ClientResponse, *, max_body: int, seconds: float) -> None:
        self._response = response
        self._seconds = seconds
        self._max = max_body
        self.status: Final = response.status
        self.headers: Final = _first_values(response)

    @property
    def is_event_stream(self) -> bool:
        """Whether the body is an event stream. Read it with `events`, any other body with `read`."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream"

    async def read(self) -> bytes:
        """Read the whole body. Raises TooLarge, ServerGone, TimedOut."""
        body = bytearray()
        async for chunk in self._chunks():
            body += chunk
            if len(body) > self._max:
                raise TooLarge("a body", self._max)
        return bytes(body)

    async def events(self, max_event: int = MAX_EVENT) -> AsyncIterator[Event]:
        """Read events as they arrive. Raises TooLarge, ServerGone, TimedOut."""
        decoder = SseDecoder(max_event)
        async for chunk in self._chunks():
            for event in decoder.feed(chunk):
                yield event

    async def _chunks(self) -> AsyncIterator[bytes]:
        with _mapped_errors(str(self._response.url), self._seconds):
            async for chunk in self._response.content.iter_chunked(_CHUNK):
                yield chunk


class HttpClient:
    """A connection pool for one or more servers. With `keeps=False` each request opens a new connection."""

    def __init__(
        self,
        *,
        seconds: float = 30.0,
        max_body: int = MAX_BODY,
        connections: int = CONNECTIONS,
        keeps: bool = True,
    ) -> None:
        self._max = max_body
        self._seconds = seconds
        self._session = aiohttp.ClientSession(
            connector=(
                aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEP_SECONDS)
                if keeps
                else aiohttp.TCPConnector(limit=connections, force_close=True)
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds),
            trust_env=False,
        )

    @contextlib.asynccontextmanager
    async def stream(
        self, verb: str, url: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[HttpStream]:
        """Send a request and yield the response when its headers have arrived.

        Leaving the block before the end of the body closes the connection. Raises CannotReach, ServerGone, TimedOut.
        """
        with _mapped_errors(url, self._seconds):
            response = await self._session.request(
                verb, url, headers=dict(headers), data=body or None, allow_redirects=False
            )
        try:
            yield HttpStream(response, max_body=self._max, seconds=self._seconds)
        finally:
            response.close()

    async def send(self, verb: str, url: str, *, headers: Mapping[str, str], body: bytes = b"") -> HttpResponse:
        """Send a request and read the whole response. Raises CannotReach, ServerGone, TimedOut, TooLarge."""
        async with self.stream(verb, url, headers=headers, body=body) as stream:
            return HttpResponse(status=stream.status, headers=stream.headers, body=await stream.read())

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _first_values(response: aiohttp.ClientResponse) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for name, value in response.headers.items():
        values.setdefault(name.lower(), value)
    return values


@contextlib.contextmanager
def _mapped_errors(url: str, seconds: float) -> Iterator[None]:
    """Convert the errors of aiohttp to ClientError."""
    try:
        yield
    except aiohttp.ClientConnectorError as exc:
        raise CannotReach(url, "no connection; check the host and the port, and that the server is running") from exc
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError):
        raise CannotReach(url, "expected an http:// or https:// URL") from None  # the cause shows the URL with its secrets
    except ValueError:  # for credentials in two places, or a header value with a line break; the message may quote them
        reason = "the URL or a header is not valid; give credentials in the URL or as Authorization, not both"
        raise CannotReach(url, reason) from None
    except (aiohttp.ServerTimeoutError, TimeoutError) as exc:
        raise TimedOut(url, seconds) from exc
    except (aiohttp.ClientError, OSError) as exc:
        raise ServerGone from exc
