"""Links over HTTP to one URL. Apart from `upstream`, because it needs the extra `client` (aiohttp)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from strictwire.client.http import HttpClient
from strictwire.gateway.links.http_link import HttpLink, Lines
from strictwire.gateway.links.link import Era, Hearer, Link

HTTP_SECONDS: Final = 3600.0
"""Silence on a connection; calls have their own, shorter limit."""

CONNECTIONS: Final = 2000
"""To one upstream at a time: each subscription and each session holds one."""


class HttpCarrier:
    """The same connections for every link."""

    def __init__(self, url: str, *, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self._lines: Lines | None = None

    async def open(self, era: Era, stray: Hearer) -> Link:
        """Nothing is sent yet, so nothing can fail."""
        if self._lines is None:
            self._lines = Lines(
                HttpClient(seconds=HTTP_SECONDS, connections=CONNECTIONS),
                HttpClient(seconds=HTTP_SECONDS, connections=CONNECTIONS, keeps=False),
            )
        return HttpLink(self._url, lines=self._lines, era=era, headers=self._headers, stray=stray)

    def note_end(self) -> None:
        """The next request shows whether it is back."""

    async def close(self) -> None:
        """Close every connection."""
        if self._lines is not None:
            await self._lines.close()
