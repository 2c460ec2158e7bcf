"""What all legacy sessions of the guard have in common, with one upstream or with several."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from strictwire.profiles.endpoint import Outlet
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.streams import Streams
from strictwire.wire.revisions import LEGACY_NAMES, REVISIONS, Revision
from strictwire.wire.session import InFlight


class GuardSession(ABC):
    """Implements the part of exchange.Session that does not depend on the upstreams."""

    def __init__(self, exchange: Exchange, session_id: str | None, in_flight: InFlight[Exchange] | None = None) -> None:
        """Opened by the `initialize` of an exchange."""
        self.id = session_id
        self.principal = exchange.inbound.caller.principal
        self.revision: Revision = REVISIONS[LEGACY_NAMES[-1]]
        self.in_flight: InFlight[Exchange] = InFlight() if in_flight is None else in_flight
        self.streams = Streams()
        self.closed = asyncio.Event()
        self.opening = b""
        """The answer to `initialize`."""
        self._outlet: Outlet | None = None
        self._retiring: asyncio.Future[None] | None = None

    def attach(self, outlet: Outlet) -> None:
        """See Session: messages that belong to no request go here, to stdout or an open GET stream."""
        self._outlet = outlet

    def detach(self, outlet: Outlet) -> None:
        """See Session."""
        if self._outlet is outlet:
            self._outlet = None

    @abstractmethod
    def end_input(self) -> None:
        """See Session. The implementations know the questions of their upstreams."""

    def retire(self) -> None:
        """See Session. The upstream sessions behind this one end after the answers to its running requests."""
        self.end_input()
        self._retiring = asyncio.ensure_future(self._close_later())

    async def _close_later(self) -> None:
        running = [exchange.task for exchange in self.in_flight.values() if exchange.task is not None]
        await asyncio.gather(*running, return_exceptions=True)
        await self.close()

    async def close(self) -> None:
        """See Session."""
        self.closed.set()
        self.streams.close()
        for exchange in tuple(self.in_flight.values()):
            exchange.cancel()
