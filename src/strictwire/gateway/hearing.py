"""Where the words of an upstream go that belong to one request: onto the stream of that request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

from strictwire.gateway.link import Deaf, Era
from strictwire.gateway.rewrite import value_at
from strictwire.profiles.endpoint import Outlet
from strictwire.profiles.mcp.context import LEVELS
from strictwire.wire.envelope import Notification, Request

Asked: TypeAlias = Callable[[bytes, Request, Outlet], None]
"""Takes a request of a legacy upstream and the stream on which its client may be asked."""

BURST: Final = 2000
"""Messages that one request may have at once; a flood past it is dropped. No progress bar has more steps."""

REFILL: Final = 500.0
"""Messages a second that are always passed on."""


class Faucet:
    """Lets through what a reader can bear, and drops the rest."""

    def __init__(self) -> None:
        self._left = float(BURST)
        self._at = asyncio.get_running_loop().time()

    def allows(self) -> bool:
        """Whether one more may pass now."""
        now = asyncio.get_running_loop().time()
        self._left = min(self._left + (now - self._at) * REFILL, float(BURST))
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Patience:
    """The time limit of one call: every word of the upstream begins the allowed silence anew."""

    def __init__(self, silence: float, total: float) -> None:
        loop = asyncio.get_running_loop()
        self._silence = silence
        self._ends = loop.time() + total
        self.limit = asyncio.timeout_at(min(loop.time() + silence, self._ends))

    def touch(self) -> None:
        """The upstream is alive."""
        self._move(self._silence)

    def hold(self) -> None:
        """The upstream waits for a person: until the end of the total, it need not speak."""
        self._move(float("inf"))

    def _move(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if not self.limit.expired():
            self.limit.reschedule(min(loop.time() + seconds, self._ends))


class StreamHearer:
    """Passes everything on to the stream of one request."""

    def __init__(self, outlet: Outlet, *, era: Era, level: str | None = None, asked: Asked | None = None) -> None:
        self._outlet = outlet
        self.era = era
        self._level = level
        self._asked = asked
        self._faucet: Faucet | None = None
        self.patience: Patience | None = None

    def open(self) -> None:
        """The upstream began a stream; so do we, so that the client sees signs of life."""
        self._outlet.open()

    def hear(self, raw: bytes, notification: Notification) -> None:
        """Pass a notification on, unless the client did not ask for it."""
        if self.patience is not None:
            self.patience.touch()
        if self._faucet is None:
            self._faucet = Faucet()
        if self._wants(notification) and self._faucet.allows():
            self._outlet.send(raw)

    def asked(self, raw: bytes, request: Request) -> None:
        """Pass a question on."""
        if self._asked is not None:
            if self.patience is not None:
                self.patience.hold()
            self._asked(raw, request, self._outlet)

    def _wants(self, notification: Notification) -> bool:
        """In the stateless era log messages need a level that the request named."""
        if self.era is Era.LEGACY or notification.method != "notifications/message":
            return True
        level = value_at(notification.params, "level")
        return self._level is not None and isinstance(level, str) and LEVELS.get(level, -1) >= LEVELS[self._level]


class Watcher(Deaf):
    """Hears of changes on a subscription of the guard itself."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def hear(self, raw: bytes, notification: Notification) -> None:  # noqa: ARG002 - the seam's signature
        """A list changed."""
        if notification.method == "notifications/tools/list_changed":
            self._changed()
