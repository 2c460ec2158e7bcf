"""One upstream: how it is started or reached, which eras it speaks, and when it may be started again."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut
from strictwire.client.message import MODERN_VERSION, Identity, initialize_params, modern_params
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.links.health import Health, reason_of
from strictwire.gateway.links.link import Deaf, Era, Hearer, Link, Question
from strictwire.gateway.links.stdio_link import PipeLink

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

    def __init__(self, *, said_so: bool = False) -> None:
        super().__init__(said_so)
        self.said_so = said_so
        """It answered, so it is well and may be spoken to in the other era."""


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

    def __init__(self, target: Target, ended: Callable[[ClientError], None]) -> None:
        self._target = target
        self._ended = ended
        self._links: set[PipeLink] = set()
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
        try:
            process = await StdioProcess.start(target.command, env=target.env, cwd=target.cwd)
        except CannotReach:
            self.note_end()
            raise
        link = PipeLink(process, era=era, stray=stray, ended=self._ended)
        self._links = {link, *(each for each in self._links if not each.is_closed)}
        return link

    def note_end(self) -> None:
        """A process ended by itself: the sooner after its start, the longer the next one waits."""
        now = time.monotonic()
        self._failures = 0 if now - self._started > STEADY_SECONDS else min(self._failures + 1, len(DELAYS) - 1)
        self._earliest = now + DELAYS[self._failures]

    async def close(self) -> None:
        """See that every process has ended, whoever was to end it."""
        await asyncio.gather(*(link.close() for link in self._links))


class Upstream:
    """Gives links: one that all clients of the stateless era share, and one for each legacy session."""

    def __init__(self, target: Target, identity: Identity) -> None:
        self.target = target
        self._identity = identity
        self.health = Health(target.name)
        self._carrier = _carrier_of(target, self._note_death)
        self._opening: asyncio.Task[Link] | None = None
        self._shared: Link | None = None
        self._not_modern_until = 0.0
        self._sessionless_until = 0.0
        self._spare: PipeLink | None = None
        """A process that was started for the stateless era and does not speak it; the first session takes it."""
        self._numbers = itertools.count(1)
        self.discovery: JsonObject = {}
        """What the upstream last answered to `server/discover`."""

    async def modern(self) -> Link:
        """The shared link of the stateless era. Raises NotSpoken, ClientError."""
        if self._shared is not None and self._shared.alive:
            return self._shared
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open_modern(self._shared))
            self._opening.add_done_callback(_see)
        # Whoever stops waiting does not stop the start: it may be a slow one, and others wait for it too.
        return await asyncio.shield(self._opening)

    @property
    def has_sessions(self) -> bool:
        """False for a while after it refused one, so that no process is started for nothing."""
        return time.monotonic() >= self._sessionless_until

    def note_sessionless(self) -> None:
        """It refused a session, and speaks the stateless era."""
        self._sessionless_until = time.monotonic() + NOT_SPOKEN_SECONDS

    async def legacy(self, stray: Hearer) -> Link:
        """A link for one session, not initialized yet. Raises ClientError."""
        spare, self._spare = self._spare, None
        if spare is not None and spare.alive:
            spare.turn(Era.LEGACY, stray)
            return spare
        return await self._carrier.open(Era.LEGACY, stray)

    def note_end(self) -> None:
        """A link ended by itself."""
        self._carrier.note_end()

    async def close(self) -> None:
        """Close everything."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        for link in (self._shared, self._spare):
            if link is not None:
                await link.close()
        await self._carrier.close()

    def question(self, method: str, params: JsonObject, era: Era) -> Question:
        """A request of the guard itself. It declares no capabilities."""
        number = f"strictwire-guard-{next(self._numbers)}"
        full = modern_params(params, self._identity) if era is Era.MODERN else params
        raw = render({"jsonrpc": "2.0", "id": number, "method": method, "params": full})
        return Question(id=number, method=method, params=full, raw=raw)

    def opening(self) -> Question:
        """An `initialize` of the guard itself."""
        return self.question("initialize", initialize_params(self._identity), Era.LEGACY)

    async def _open_modern(self, dead: Link | None) -> Link:
        if dead is not None:
            self._shared = None
            self.note_end()
            await dead.close()
        if time.monotonic() < self._not_modern_until:
            raise NotSpoken
        link = None
        try:
            link = await self._carrier.open(Era.MODERN, Deaf())
            self.discovery = await self._discover(link)
        except BaseException as exc:
            self._note_failure(exc)
            if isinstance(exc, NotSpoken) and exc.said_so and isinstance(link, PipeLink):
                self._spare = link
            elif link is not None:
                await link.close()
            raise
        self._shared = link
        self.health.note_up()
        return link

    def _note_death(self, error: ClientError) -> None:
        self.health.note_down(reason_of(error))

    def _note_failure(self, exc: BaseException) -> None:
        if isinstance(exc, ServerGone):
            self.note_end()
        if isinstance(exc, ClientError) and not isinstance(exc, TooSoon):
            self.health.note_down(reason_of(exc))

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
            raise NotSpoken(said_so=True)
        return answer.result or {}


def _see(opening: asyncio.Task[Link]) -> None:
    """Nobody may be left to hear how a start ended."""
    if not opening.cancelled():
        opening.exception()


def _carrier_of(target: Target, ended: Callable[[ClientError], None]) -> Carrier:
    """HTTP needs the extra `client` (aiohttp), which a guard of processes does without."""
    if target.url is None:
        return PipeCarrier(target, ended)
    from strictwire.gateway.links.http_carrier import HttpCarrier

    return HttpCarrier(target.url, headers=target.headers)
