"""The state of an upstream, as people and the status resource see it. Every change is a line in the log."""

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


class State(StrEnum):
    """Whether an upstream can be used."""

    IDLE = "idle"
    """Nobody has needed it yet."""
    UP = "up"
    """It answered last time."""
    DOWN = "down"
    """It ended, hung or could not be reached; it is started again, later each time."""


def reason_of(error: ClientError) -> str:
    """Why a connection failed, in our own words."""
    if isinstance(error, ServerGone):
        return "it closed its output" if error.exit_code is None else f"it ended with exit code {error.exit_code}"
    return next((text for kind, text in _REASONS.items() if isinstance(error, kind)), "it does not speak MCP")


_REASONS: Final[Mapping[type[ClientError], str]] = MappingProxyType(
    {CannotReach: "it cannot be reached", TimedOut: "it does not answer", TooLarge: "it says too much"}
)


class Health:
    """What is known of one upstream. Whoever must act on a change waits for it, or is told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = State.IDLE
        self.failures = 0
        """Times it went down."""
        self.reason: str | None = None
        """Why it is down, or was the last time."""
        self.on_change: Callable[[], None] = lambda: None
        self._news = asyncio.Event()

    def note_up(self) -> None:
        """It answered."""
        if self.state is State.UP:
            return
        again = f" again after {self.failures} failures" if self.failures else ""
        log.info("upstream %s is up%s", self.name, again)
        self._move(State.UP)

    def note_down(self, reason: str) -> None:
        """It failed; `reason` is ours and nothing that the upstream wrote."""
        self.reason = reason
        if self.state is State.DOWN:
            self._tell()
            return
        self.failures += 1
        log.warning("upstream %s is down: %s", self.name, reason)
        self._move(State.DOWN)

    async def wait_news(self) -> None:
        """Until it goes up, or fails: also once more, for there may be several links to it."""
        await self._news.wait()

    def as_json(self) -> JsonObject:
        """For the status resource."""
        return {"name": self.name, "state": self.state.value, "failures": self.failures, "reason": self.reason}

    def _move(self, state: State) -> None:
        self.state = state
        self._tell()
        self.on_change()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
