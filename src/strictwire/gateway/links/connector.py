"""Where an upstream is, and how links to it are opened: a process for each link, or HTTP to one URL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from strictwire.client.errors import CannotReach
from strictwire.client.message import Era
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.links.background import RETRY_SECONDS
from strictwire.gateway.links.errors import RestartDelayed
from strictwire.gateway.links.link import Listener, WatchedLink
from strictwire.gateway.links.stdio_link import OnEnd, StdioLink

STEADY_SECONDS: Final = 10.0
"""A process that lived this long did not fail at its start, so the next start need not wait."""

START_DELAYS: Final = (0.0, 0.0, *RETRY_SECONDS)
"""Seconds before the next start, by the number of failed starts in a row. One failure costs nothing: crashes happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamTarget:
    """Where an upstream is: a command, or a URL."""

    name: str = "upstream"
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] | None = None
    """The whole environment of the command; None passes on the guard's own."""
    cwd: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every HTTP request. No header of a client is ever passed on, except those that repeat arguments."""


class Connector(Protocol):
    """Opens links to one upstream."""

    async def open(self, era: Era, listener: Listener) -> WatchedLink:
        """A link that has sent nothing yet. `listener` gets messages that belong to no request. Raises ClientError."""

    def note_end(self) -> None:
        """A link ended by itself."""

    async def close(self) -> None:
        """Free what the links share."""


def connector_for(target: UpstreamTarget, on_end: OnEnd) -> Connector:
    """The connector of a target. HTTP needs the extra `client` (aiohttp), so it is imported only when it is used."""
    if target.url is None:
        return StdioConnector(target, on_end)
    from strictwire.gateway.links.http_link import HttpConnector

    return HttpConnector(target.url, headers=target.headers)


class StdioConnector:
    """Starts a process for each link, with a growing delay after failed starts."""

    def __init__(self, target: UpstreamTarget, on_end: OnEnd) -> None:
        self._target = target
        self._on_end = on_end
        self._links: set[StdioLink] = set()
        self._failures = 0
        self._started = 0.0
        self._earliest = 0.0

    async def open(self, era: Era, listener: Listener) -> WatchedLink:
        """Start the command. Raises CannotReach, RestartDelayed."""
        now = time.monotonic()
        if now < self._earliest:
            raise RestartDelayed(self._earliest - now)
        self._started = now
        target = self._target
        try:
            process = await StdioProcess.start(target.command, env=target.env, cwd=target.cwd)
        except CannotReach:
            self.note_end()
            raise
        link = StdioLink(process, era=era, listener=listener, on_end=self._on_end)
        self._links = {link, *(each for each in self._links if not each.is_closed)}
        return link

    def note_end(self) -> None:
        """A process ended by itself: the sooner after its start, the longer the next start waits."""
        now = time.monotonic()
        self._failures = 0 if now - self._started > STEADY_SECONDS else min(self._failures + 1, len(START_DELAYS) - 1)
        self._earliest = now + START_DELAYS[self._failures]

    async def close(self) -> None:
        """End every process that is still there, even if another task began to end it."""
        await asyncio.gather(*(link.close() for link in self._links))
