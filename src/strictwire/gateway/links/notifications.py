"""Listeners: where the notifications and requests of an upstream go, and how many of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

from strictwire.client.inbox import notification_limit
from strictwire.client.message import Era
from strictwire.gateway.links.link import NullListener
from strictwire.gateway.links.raw_message import value_at
from strictwire.pipeline.limits import TokenBucket
from strictwire.profiles.endpoint import Outlet
from strictwire.wire.envelope import Notification, Request
from strictwire.wire.names import LEVELS

AskClient: TypeAlias = Callable[[bytes, Request, Outlet], None]
"""Puts a request of a legacy upstream to its client, on the given stream."""

TOOLS_CHANGED: Final = "notifications/tools/list_changed"


class IdleTimeout:
    """The time limit of one request. Every message of the upstream restarts the idle time; the total time never restarts."""

    def __init__(self, idle_seconds: float, total_seconds: float) -> None:
        now = asyncio.get_running_loop().time()
        self._idle_seconds = idle_seconds
        self._ends = now + total_seconds
        self.timeout = asyncio.timeout_at(min(now + idle_seconds, self._ends))

    def restart(self) -> None:
        """The upstream sent something."""
        self._move(self._idle_seconds)

    def suspend(self) -> None:
        """The upstream waits for a person: only the total time counts."""
        self._move(float("inf"))

    def _move(self, seconds: float) -> None:
        if not self.timeout.expired():
            self.timeout.reschedule(min(asyncio.get_running_loop().time() + seconds, self._ends))


class StreamListener:
    """Passes on everything to the stream of one request."""

    def __init__(self, outlet: Outlet, *, era: Era, level: str | None = None, ask_client: AskClient | None = None) -> None:
        """`level` is the least severe log message that a client of the stateless era wants; None for no log messages."""
        self.era = era
        self.idle: IdleTimeout | None = None
        """The time limit that messages of the upstream restart."""
        self._outlet = outlet
        self._level = level
        self._ask_client = ask_client
        self._limit: TokenBucket | None = None

    def on_stream(self) -> None:
        """Open the client's stream, too, so that it sees signs of life."""
        self._outlet.open()

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """Pass on a notification that the client wants."""
        if self.idle is not None:
            self.idle.restart()
        if self._limit is None:
            self._limit = notification_limit()
        if self._is_wanted(notification) and self._limit.take(asyncio.get_running_loop().time()):
            self._outlet.send(raw)

    def on_request(self, raw: bytes, request: Request) -> None:
        """Put a request of the upstream to the client."""
        if self._ask_client is not None:
            if self.idle is not None:
                self.idle.suspend()
            self._ask_client(raw, request, self._outlet)

    def _is_wanted(self, notification: Notification) -> bool:
        """In the stateless era a client gets log messages only from the level that its request names."""
        if self.era is Era.LEGACY or notification.method != "notifications/message":
            return True
        level = value_at(notification.params, "level")
        wanted = LEVELS.get(self._level) if isinstance(self._level, str) else None
        return wanted is not None and isinstance(level, str) and LEVELS.get(level, -1) >= wanted


class ToolsChangedListener(NullListener):
    """Calls a function when an upstream notifies that its tools changed."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change

    def on_notification(self, raw: bytes, notification: Notification) -> None:  # noqa: ARG002 - Listener's signature
        """See Listener."""
        if notification.method == TOOLS_CHANGED:
            self._on_change()
