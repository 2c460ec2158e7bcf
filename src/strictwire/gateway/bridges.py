"""The bridges from clients of the stateless era to one upstream that has sessions only, and what they may cost in all."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject
from strictwire.gateway.book import Book
from strictwire.gateway.bridge_errors import Crowded
from strictwire.gateway.bridge_session import describe
from strictwire.gateway.bridge_terms import client_capabilities
from strictwire.gateway.bridge_to_legacy import OverLegacy
from strictwire.gateway.upstream import Upstream
from strictwire.profiles.mcp.era import META_CLIENT
from strictwire.profiles.mcp.modern import RequestMeta

MAX_PROCESSES: Final = 50
MAX_SESSIONS: Final = 200
"""Sessions open at once, of all clients: where each is a process, and where each is one of an HTTP server."""

IDLE_SECONDS: Final = 900.0
"""A session that nobody used for this long is closed when the next client comes."""


class Bridges:
    """The bridges of one upstream, one for each client that differs in who it is or what it can do."""

    def __init__(self, upstream: Upstream, *, new_book: Callable[[], Book], elapsed: Callable[[], float]) -> None:
        self._upstream = upstream
        self._new_book = new_book
        self._elapsed = elapsed
        self._bridges: OrderedDict[str, tuple[OverLegacy, float]] = OrderedDict()
        """By client, with the time of its last request; the one that was silent longest first."""
        self._closing: set[asyncio.Task[None]] = set()
        self._limit = MAX_PROCESSES if upstream.target.url is None else MAX_SESSIONS

    def bridge_for(self, principal: str, stated: RequestMeta) -> OverLegacy:
        """The bridge of this client."""
        return self._find(principal, describe(client_capabilities(stated.capabilities), stated.meta.get(META_CLIENT)))

    async def close(self) -> None:
        """End everything."""
        bridges = [each for each, _ in self._bridges.values()]
        await asyncio.gather(*(each.close() for each in bridges), *self._closing, return_exceptions=True)

    def _find(self, principal: str, client: JsonObject) -> OverLegacy:
        now = self._elapsed()
        self._close_idle(now - IDLE_SECONDS)
        key = digest({"principal": principal, **client})
        bridge, _ = self._bridges.get(key) or (self._new(client), now)
        self._bridges[key] = (bridge, now)
        self._bridges.move_to_end(key)
        return bridge

    def _new(self, client: JsonObject) -> OverLegacy:
        return OverLegacy(self._upstream, self._new_book(), client, self._make_room)

    def _make_room(self) -> None:
        """End the session that was not used for longest if there are too many. Raises Crowded: every one is in use."""
        open_ones = [(key, each) for key, (each, _) in self._bridges.items() if each.is_open]
        # The one that asks for room counts already: it is being opened.
        if len(open_ones) <= self._limit:
            return
        idle = next((key for key, each in open_ones if not each.busy), None)
        if idle is None:
            raise Crowded
        self._close(idle)

    def _close_idle(self, before: float) -> None:
        for key, (bridge, used) in tuple(self._bridges.items()):
            if used >= before:
                return
            if not bridge.busy:
                self._close(key)

    def _close(self, key: str) -> None:
        bridge, _ = self._bridges.pop(key)
        task = asyncio.create_task(bridge.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
