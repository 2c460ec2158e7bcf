"""The health of one upstream, for the log, the status resource and the code that restarts it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError, ServerGone, TimedOut, TooLarge

log = logging.getLogger("strictwire.guard")


class UpstreamState(StrEnum):
    """Whether an upstream can be used."""

    IDLE = "idle"
    """No request has needed it yet."""
    UP = "up"
    """It answered last time."""
    DOWN = "down"
    """It ended, hung or could not be reached; it is started again, later each time."""


def reason_of(error: ClientError) -> str:
    """Why a connection failed. No text of the upstream is in it."""
    if isinstance(error, ServerGone):
        return "it closed its output" if error.exit_code is None else f"it ended with exit code {error.exit_code}"
    return next((text for kind, text in _REASONS.items() if isinstance(error, kind)), "it does not speak MCP")


_REASONS: Final[Mapping[type[ClientError], str]] = MappingProxyType(
    {CannotReach: "it cannot be reached", TimedOut: "it does not answer", TooLarge: "its message is larger than the limit"}
)


class Health:
    """The state of one upstream. Every change is logged."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = UpstreamState.IDLE
        self.failures = 0
        """How often the upstream went down."""
        self.reason: str | None = None
        """Why the upstream is down, or was the last time."""
        self.on_change: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()

    def note_up(self) -> None:
        """The upstream answered."""
        if self.state is UpstreamState.UP:
            return
        again = f" again after {self.failures} failures" if self.failures else ""
        log.info("upstream %s is up%s", self.name, again)
        self._move(UpstreamState.UP)

    def note_down(self, reason: str) -> None:
        """The upstream failed. `reason` must not contain text of the upstream."""
        self.reason = reason
        if self.state is UpstreamState.DOWN:
            self._wake()
            return
        self.failures += 1
        log.warning("upstream %s is down: %s", self.name, reason)
        self._move(UpstreamState.DOWN)

    async def wait_for_news(self) -> None:
        """Return when the upstream goes up or fails, also if it fails again: there may be several links to it."""
        await self._changed.wait()

    def as_json(self) -> JsonObject:
        """For the status resource."""
        return {"name": self.name, "state": self.state.value, "failures": self.failures, "reason": self.reason}

    def _move(self, state: UpstreamState) -> None:
        self.state = state
        self._wake()
        self.on_change()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
