"""A legacy session that the guard opens at an upstream for one client of the stateless era."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import ClientError, ServerGone
from strictwire.client.message import Era
from strictwire.gateway.bridges.resumable_call import ResumableCall
from strictwire.gateway.bridges.translation import server_capabilities
from strictwire.gateway.links.link import Link, NullListener, try_send
from strictwire.gateway.links.raw_message import METHOD_NOT_FOUND, value_at
from strictwire.gateway.links.upstream import OPENING_SECONDS, Upstream, handshake
from strictwire.profiles.mcp.listen import WANTS
from strictwire.wire.envelope import Notification, Request, render_error, render_notification, render_result
from strictwire.wire.names import LEVELS
from strictwire.wire.revisions import LATEST_LEGACY, LEGACY_NAMES, MODERN_NAMES

INITIALIZED: Final = render_notification("notifications/initialized", {})
CHANGES: Final = frozenset({*(f"notifications/{kind}/list_changed" for kind in WANTS), "notifications/resources/updated"})
"""Notifications of a session that belong to no request and that a client may subscribe to."""


class BridgedSession:
    """The session, and the Listener for messages that belong to no request of it."""

    def __init__(self, upstream: Upstream, on_change: Callable[[Notification], None]) -> None:
        self._upstream = upstream
        self._on_change = on_change
        self.link: Link
        self.opened: JsonObject = {}
        """The upstream's result of `initialize`."""
        self.calls: list[ResumableCall] = []
        """Requests that are not answered yet, oldest first."""
        self._level: str | None = None
        self._numbers = itertools.count(1)
        self._tasks = BackgroundTasks()

    async def open(self, client: JsonObject) -> None:
        """Open the link and initialize the session with the client's identity. Raises ClientError."""
        params: JsonObject = {"protocolVersion": LATEST_LEGACY, **client}
        initialize = self._upstream.make_request("initialize", params, Era.LEGACY)
        self.link = await self._upstream.session_link(self)
        try:
            self.opened = await handshake(self.link, initialize, INITIALIZED, versions=LEGACY_NAMES)
        except ServerGone:
            self._upstream.note_end()
            raise

    def next_id(self) -> str:
        """A request id that this session has not used."""
        return f"strictwire-{next(self._numbers)}"

    def offers(self, *path: str) -> bool:
        """Whether the upstream declared a capability."""
        return value_at(self.opened, "capabilities", *path) not in (None, False)

    async def lower_level(self, level: JsonValue) -> None:
        """Have the upstream log from this level on, at least; each request filters for itself. Raises ClientError."""
        if not isinstance(level, str) or not self.offers("logging"):
            return
        if self._level is None or LEVELS[level] < LEVELS[self._level]:
            self._level = level
            request = self._upstream.make_request("logging/setLevel", {"level": level}, Era.LEGACY)
            await self.link.request(request, NullListener())

    async def set_subscription(self, uri: str, method: str) -> bool:
        """Subscribe to a resource, or unsubscribe; whether the upstream agreed."""
        request = self._upstream.make_request(method, {"uri": uri}, Era.LEGACY)
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                return (await self.link.request(request, NullListener())).error is None
        except (TimeoutError, ClientError):
            return False

    def end(self, call: ResumableCall) -> None:
        """A call is answered or cancelled. Questions that it carried for another call move on."""
        self.calls.remove(call)
        for raw, request in call.take_adopted():
            self.on_request(raw, request)

    # A Listener.

    def on_stream(self) -> None:
        """See Listener."""

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """See Listener. Changes go to subscribers, cancelled questions to their call, log messages to the only call."""
        if notification.method in CHANGES:
            self._on_change(notification)
        elif notification.method == "notifications/cancelled":
            for call in self.calls:
                call.withdraw((notification.params or {}).get("requestId"))
        elif notification.method == "notifications/message":
            running = self._running()
            if len(running) == 1:
                running[0].on_notification(raw, notification)

    def on_request(self, raw: bytes, request: Request) -> None:
        """See Listener. A question that names no call goes to the client with its latest call."""
        calls = self._running() or [each for each in self.calls if each.may_ask]
        if calls:
            calls[-1].ask(raw, request, adopted=True)
            return
        refusal: JsonObject = {"code": METHOD_NOT_FOUND, "message": "No call is open that could be asked"}
        answer = render_result(request.id, b"{}") if request.method == "ping" else render_error(request.id, refusal)
        self._tasks.start(try_send(self.link, answer))

    def _running(self) -> list[ResumableCall]:
        """Calls whose client waits now."""
        return [each for each in self.calls if each.may_ask and each.has_client]


def as_discovery(opened: JsonObject) -> JsonObject:
    """The result of `initialize` as a result of `server/discover`."""
    result: JsonObject = {
        "supportedVersions": list(MODERN_NAMES),
        "capabilities": server_capabilities(opened.get("capabilities")),
    }
    return result | ({"instructions": opened["instructions"]} if isinstance(opened.get("instructions"), str) else {})


def client_params(capabilities: Mapping[str, JsonValue], info: JsonValue) -> JsonObject:
    """The params of `initialize` that describe a client."""
    known = isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)
    client = info if known else {"name": "unnamed", "version": "0"}
    return {"capabilities": dict(capabilities), "clientInfo": client}
