"""The bridges of clients of the stateless era to one legacy upstream, and how many sessions they may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from strictwire.canon.digest import digest
from strictwire.client.background import BackgroundTasks
from strictwire.gateway.bridges.legacy_session import client_params
from strictwire.gateway.bridges.to_legacy import LegacyBridge
from strictwire.gateway.bridges.translation import client_capabilities
from strictwire.gateway.links.errors import SessionsExhausted
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.options import RelayOptions
from strictwire.gateway.tool_list import ToolList
from strictwire.profiles.mcp.quota import SessionQuota
from strictwire.profiles.mcp.request_meta import RequestMeta
from strictwire.wire.names import META_CLIENT

MAX_PROCESSES: Final = 50
"""Open sessions of all clients, where each is a process."""

MAX_SESSIONS: Final = 200
"""Open sessions of all clients, where each is one of an HTTP server."""


class BridgePool:
    """The bridges of one upstream: one for each principal, client identity and set of capabilities."""

    def __init__(self, upstream: Upstream, *, new_tool_list: Callable[[], ToolList], options: RelayOptions) -> None:
        self._upstream = upstream
        self._new_tool_list = new_tool_list
        total = MAX_PROCESSES if upstream.target.url is None else MAX_SESSIONS
        self._bridges: SessionQuota[LegacyBridge] = SessionQuota(
            options.session_limits(total), is_busy=lambda bridge: bridge.is_busy, end=self._end
        )
        self._closing = BackgroundTasks()

    def bridge_for(self, principal: str, meta: RequestMeta) -> LegacyBridge:
        """The bridge of the client that made a request. Raises SessionsExhausted: all that it may have are in use."""
        client = client_params(client_capabilities(meta.capabilities), meta.meta.get(META_CLIENT))
        key = digest({"principal": principal, **client})
        bridge = self._bridges.find(key, principal)
        if bridge is None:
            if not self._bridges.make_room(principal):
                raise SessionsExhausted
            bridge = LegacyBridge(self._upstream, self._new_tool_list(), client)
            self._bridges.add(key, principal, bridge)
        return bridge

    async def close(self) -> None:
        """Close every bridge."""
        bridges = self._bridges.clear()
        await asyncio.gather(*(each.close() for each in bridges), self._closing.join(), return_exceptions=True)

    def _end(self, bridge: LegacyBridge) -> None:
        self._closing.start(bridge.close())
