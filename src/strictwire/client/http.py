"""HTTP for sessions: POST, GET and DELETE of bytes, whole or as an event stream. The only module that knows aiohttp.

Not for malformed HTTP: that is `rawhttp`. No redirects are followed (a redirected POST would carry a token elsewhere),
no cookies are kept, bodies are bounded.
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
"""One body of the server: twice the largest message we accept."""

CONNECTIONS: Final = 100
"""To one server at a time; more requests wait for a free one."""

KEEP_SECONDS: Final = 2.0
"""An idle connection is used again for so long. Common servers close one after 5 s, and a POST must not meet that: whether
it was acted on could not be told."""

_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; the first value of each."""
    body: bytes


class HttpStream:
    """An answer whose head has come and whose body is read on demand."""

    def __init__(self, response: aiohttp.ClientResponse, *, max_body: int, seconds: float) -> None:
        self._response = response
        self._seconds = seconds
        self._max = max_body
        self.status: Final = response.status
        self.headers: Final = _first_values(response)

    @property
    def is_event_stream(self) -> bool:
        """It carries events; read them with `events`, anything else with `read`."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream"

    async def read(self) -> bytes:
        """The whole body. Raises TooLarge, ServerGone, TimedOut."""
        body = bytearray()
        async for chunk in self._chunks():
            body += chunk
            if len(body) > self._max:
                raise TooLarge("a body", self._max)
        return bytes(body)

    async def events(self, max_event: int = MAX_EVENT) -> AsyncIterator[Event]:
        """Events as they come. Raises TooLarge, ServerGone, TimedOut."""
        decoder = SseDecoder(max_event)
        async for chunk in self._chunks():
            for event in decoder.feed(chunk):
                yield event

    async def _chunks(self) -> AsyncIterator[bytes]:
        with _mapped(str(self._response.url), self._seconds):
            async for chunk in self._response.content.iter_chunked(_CHUNK):
                yield chunk


class HttpClient:
    """A pool of connections to one or more servers; if it keeps none, each request has its own. Close it."""

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
        """Send and give the answer once its head is there. Leaving the block early closes the connection.

        Raises CannotReach, ServerGone, TimedOut.
        """
        with _mapped(url, self._seconds):
            response = await self._session.request(
                verb, url, headers=dict(headers), data=body or None, allow_redirects=False
            )
        try:
            yield HttpStream(response, max_body=self._max, seconds=self._seconds)
        finally:
            response.close()

    async def send(self, verb: str, url: str, *, headers: Mapping[str, str], body: bytes = b"") -> HttpAnswer:
        """Send and give the whole answer. Raises CannotReach, ServerGone, TimedOut, TooLarge."""
        async with self.stream(verb, url, headers=headers, body=body) as answer:
            return HttpAnswer(status=answer.status, headers=answer.headers, body=await answer.read())

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()


def _first_values(response: aiohttp.ClientResponse) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for name, value in response.headers.items():
        values.setdefault(name.lower(), value)
    return values


@contextlib.contextmanager
def _mapped(url: str, seconds: float) -> Iterator[None]:
    """The one place where errors of aiohttp become ours."""
    try:
        yield
    except aiohttp.ClientConnectorError as exc:
        raise CannotReach(url, "the connection was refused") from exc
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as exc:
        raise CannotReach(url, "not an http or https URL") from exc
    except (aiohttp.ServerTimeoutError, TimeoutError) as exc:
        raise TimedOut(url, seconds) from exc
    except (aiohttp.ClientError, OSError) as exc:
        raise ServerGone from exc
