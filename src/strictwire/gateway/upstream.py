"""One upstream: how it is started or reached, which eras it speaks, and when it may be started again."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut
from strictwire.client.message import MODERN_VERSION, Identity, modern_params
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.link import Deaf, Era, Hearer, Link, Question
from strictwire.gateway.pipe_link import PipeLink

OPENING_SECONDS: Final = 20.0
"""For the first answer of a process: package runners may have to fetch it first."""

STEADY_SECONDS: Final = 10.0
"""A process that lived this long did not fail at its start, so the next start need not wait."""

DELAYS: Final = (0.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before a process is started again, by the number of starts in a row that went wrong."""

NOT_SPOKEN_SECONDS: Final = 300.0
"""How long it is taken for granted that an upstream does not speak an era."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where an upstream is: a command, or a URL."""

    name: str = "upstream"
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] | None = None
    """The whole environment of the command; None hands on ours."""
    cwd: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every HTTP request. Nothing that a client sends as a header is ever passed on."""


class NotSpoken(Exception):
    """The upstream does not speak the era of this client."""


class TooSoon(ClientError):
    """The upstream failed a moment ago and is not started again yet."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the upstream failed; it is started again in {self.seconds:.1f} s"


class Carrier(Protocol):
    """Opens links to one place."""

    async def open(self, era: Era, stray: Hearer) -> Link:
        """A link that has not said anything yet. Raises ClientError."""

    def note_end(self) -> None:
        """A link ended by itself."""

    async def close(self) -> None:
        """Let go of what links share."""


class PipeCarrier:
    """A process for each link, started no faster than it can stay alive."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._failures = 0
        self._started = 0.0
        self._earliest = 0.0

    async def open(self, era: Era, stray: Hearer) -> Link:
        """Start the command. Raises CannotReach, TooSoon."""
        now = time.monotonic()
        if now < self._earliest:
            raise TooSoon(self._earliest - now)
        self._started = now
        target = self._target
        process = await StdioProcess.start(target.command, env=target.env, cwd=target.cwd)
        return PipeLink(process, era=era, stray=stray)

    def note_end(self) -> None:
        """A process ended by itself: the sooner after its start, the longer the next one waits."""
        now = time.monotonic()
        self._failures = 0 if now - self._started > STEADY_SECONDS else min(self._failures + 1, len(DELAYS) - 1)
        self._earliest = now + DELAYS[self._failures]

    async def close(self) -> None:
        """Nothing is shared."""


class Upstream:
    """Gives links: one that all clients of the stateless era share, and one for each legacy session."""

    def __init__(self, target: Target, identity: Identity) -> None:
        self.target = target
        self._identity = identity
        self._carrier = _carrier_of(target)
        self._opening = asyncio.Lock()
        self._shared: Link | None = None
        self._not_modern_until = 0.0
        self._numbers = itertools.count(1)
        self.discovery: JsonObject = {}
        """What the upstream last answered to `server/discover`."""

    async def modern(self) -> Link:
        """The shared link of the stateless era. Raises NotSpoken, ClientError."""
        if self._shared is not None and self._shared.alive:
            return self._shared
        async with self._opening:
            if self._shared is None or not self._shared.alive:
                self._shared = await self._open_modern(self._shared)
            return self._shared

    async def legacy(self, stray: Hearer) -> Link:
        """A link for one session, not initialized yet. Raises ClientError."""
        return await self._carrier.open(Era.LEGACY, stray)

    def note_end(self) -> None:
        """A link ended by itself."""
        self._carrier.note_end()

    async def close(self) -> None:
        """Close everything."""
        if self._shared is not None:
            await self._shared.close()
        await self._carrier.close()

    def question(self, method: str, params: JsonObject, era: Era) -> Question:
        """A request of the guard itself. It declares no capabilities."""
        number = f"strictwire-guard-{next(self._numbers)}"
        full = modern_params(params, self._identity) if era is Era.MODERN else params
        raw = render({"jsonrpc": "2.0", "id": number, "method": method, "params": full})
        return Question(id=number, method=method, params=full, raw=raw)

    async def _open_modern(self, dead: Link | None) -> Link:
        if dead is not None:
            self.note_end()
            await dead.close()
        if time.monotonic() < self._not_modern_until:
            raise NotSpoken
        link = await self._carrier.open(Era.MODERN, Deaf())
        try:
            self.discovery = await self._discover(link)
        except BaseException as exc:
            if isinstance(exc, ServerGone):
                self.note_end()
            await link.close()
            raise
        return link

    async def _discover(self, link: Link) -> JsonObject:
        """Raises NotSpoken: refused, not understood, silence, or other versions only."""
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                answer = await link.ask(self.question("server/discover", {}, Era.MODERN), Deaf())
        except (TimeoutError, NotUnderstood, TimedOut) as exc:
            self._not_modern_until = time.monotonic() + NOT_SPOKEN_SECONDS
            raise NotSpoken from exc
        versions = (answer.result or {}).get("supportedVersions")
        if not isinstance(versions, list) or MODERN_VERSION not in versions:
            self._not_modern_until = time.monotonic() + NOT_SPOKEN_SECONDS
            raise NotSpoken
        return answer.result or {}


def _carrier_of(target: Target) -> Carrier:
    """HTTP needs the extra `client` (aiohttp), which a guard of processes does without."""
    if target.url is None:
        return PipeCarrier(target)
    from strictwire.gateway.http_carrier import HttpCarrier

    return HttpCarrier(target.url, headers=target.headers)
