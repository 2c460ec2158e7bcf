"""The bridges of clients of the stateless era to one legacy upstream, and how many sessions they may hold."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from strictwire.canon.digest import digest
from strictwire.gateway.bridges.legacy_session import client_params
from strictwire.gateway.bridges.to_legacy import LegacyBridge
from strictwire.gateway.bridges.translation import client_capabilities
from strictwire.gateway.links.background import BackgroundTasks
from strictwire.gateway.links.errors import SessionsExhausted
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.tool_list import ToolList
from strictwire.profiles.mcp.era import META_CLIENT
from strictwire.profiles.mcp.modern import RequestMeta

MAX_PROCESSES: Final = 50
"""Open sessions of all clients, where each is a process."""

MAX_SESSIONS: Final = 200
"""Open sessions of all clients, where each is one of an HTTP server."""

IDLE_SECONDS: Final = 900.0
"""A session that was idle for this long is closed when the next request comes."""


class BridgePool:
    """The bridges of one upstream: one for each principal, client identity and set of capabilities."""

    def __init__(self, upstream: Upstream, *, new_tool_list: Callable[[], ToolList], elapsed: Callable[[], float]) -> None:
        self._upstream = upstream
        self._new_tool_list = new_tool_list
        self._elapsed = elapsed
        self._bridges: OrderedDict[str, tuple[LegacyBridge, float]] = OrderedDict()
        """By client, with the time of its last request; least recently used first."""
        self._closing = BackgroundTasks()
        self._limit = MAX_PROCESSES if upstream.target.url is None else MAX_SESSIONS

    def bridge_for(self, principal: str, meta: RequestMeta) -> LegacyBridge:
        """The bridge of the client that made a request."""
        now = self._elapsed()
        self._close_idle(now - IDLE_SECONDS)
        client = client_params(client_capabilities(meta.capabilities), meta.meta.get(META_CLIENT))
        key = digest({"principal": principal, **client})
        bridge, _ = self._bridges.get(key) or (
            LegacyBridge(self._upstream, self._new_tool_list(), client, self._make_room),
            now,
        )
        self._bridges[key] = (bridge, now)
        self._bridges.move_to_end(key)
        return bridge

    async def close(self) -> None:
        """Close every bridge."""
        bridges = [each for each, _ in self._bridges.values()]
        await asyncio.gather(*(each.close() for each in bridges), self._closing.join(), return_exceptions=True)

    def _make_room(self) -> None:
        """Close the least recently used session if there are too many. Raises SessionsExhausted: all are in use."""
        open_ones = [(key, each) for key, (each, _) in self._bridges.items() if each.is_open]
        if len(open_ones) <= self._limit:  # the bridge that needs room is among them: it is being opened
            return
        idle = next((key for key, each in open_ones if not each.is_busy), None)
        if idle is None:
            raise SessionsExhausted
        self._close(idle)

    def _close_idle(self, before: float) -> None:
        for key, (bridge, used) in tuple(self._bridges.items()):
            if used >= before:
                return
            if not bridge.is_busy:
                self._close(key)

    def _close(self, key: str) -> None:
        bridge, _ = self._bridges.pop(key)
        self._closing.start(bridge.close())
