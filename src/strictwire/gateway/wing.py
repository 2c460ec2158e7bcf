"""One upstream among several, as the switch sees it: in the stateless era, or in one legacy session."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Protocol

from strictwire.canon.json import JsonObject
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.health import Health
from strictwire.gateway.hearing import StreamHearer
from strictwire.gateway.link import Answer, Deaf, Era, Link, Question, Relayed
from strictwire.gateway.modern import ModernGuard
from strictwire.gateway.naming import Naming
from strictwire.gateway.roll import SHAPES, asking, fetch_all
from strictwire.gateway.session import GuardSession
from strictwire.gateway.warden import Warden
from strictwire.profiles.mcp.era import META_LOG_LEVEL
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.modern import RequestMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request of a client, apart from what it asks."""

    exchange: Exchange
    meta: RequestMeta | None = None
    """What it states about itself in the stateless era."""


class Wing(Protocol):
    """What a switch needs of each upstream."""

    @property
    def warden(self) -> Warden:
        """Holds it to its terms."""

    @property
    def offered(self) -> JsonObject:
        """Its capabilities, as it last told them."""

    async def relay(self, question: Question, visit: Visit) -> Relayed:
        """Have a request answered by it."""

    async def list(self, question: Question, visit: Visit) -> Answer | Failure:
        """One page of one of its lists, without what this caller may not see."""

    async def fetch(self, method: str, visit: Visit) -> frozenset[str]:
        """The keys of a whole list. Raises ClientError."""

    async def open(self, visit: Visit) -> None:
        """Have it tell what it offers. Never raises; one that cannot stays without offers."""


def name_of(wing: Wing) -> str:
    """The configured name."""
    return wing.warden.upstream.target.name


def health_of(wing: Wing) -> Health:
    """Its state."""
    return wing.warden.upstream.health


def naming_of(wing: Wing, method: str) -> Naming:
    """How its tools or prompts are called. `rename` is about tools."""
    naming = wing.warden.naming
    return naming if method.startswith("tools/") else naming.without_renames()


class ModernWing:
    """An upstream in the stateless era."""

    def __init__(self, warden: Warden) -> None:
        self.warden = warden
        self.guard = ModernGuard(warden)
        self._opening: JsonObject = {}

    @property
    def opening(self) -> JsonObject:
        """Its answer to `server/discover`, as far as it is known."""
        return self.warden.upstream.discovery or self._opening

    @property
    def offered(self) -> JsonObject:
        """See Wing."""
        return _object(self.opening.get("capabilities"))

    async def open(self, visit: Visit) -> None:
        """See Wing. A bridge to a legacy upstream is asked; everybody else has told when it was started."""
        link = await self.link(visit)
        if isinstance(link, Failure) or self.opening:
            return
        question = self.warden.upstream.question("server/discover", {}, Era.MODERN)
        with contextlib.suppress(ClientError):
            self._opening = (await link.ask(question, Deaf())).result or {}

    async def link(self, visit: Visit) -> Link | Failure:
        """The way to it for this client."""
        if visit.meta is None:
            return fail("INTERNAL")
        return await self.guard.find_link(visit.meta, visit.exchange.inbound.caller)

    async def relay(self, question: Question, visit: Visit) -> Relayed:
        """See Wing."""
        if visit.meta is None:
            return fail("INTERNAL")
        return await self.guard.relay(question, visit.meta, visit.exchange)

    async def list(self, question: Question, visit: Visit) -> Answer | Failure:
        """See Wing."""
        link = await self.link(visit)
        if isinstance(link, Failure):
            return link
        level = None if visit.meta is None else visit.meta.meta.get(META_LOG_LEVEL)
        hearer = StreamHearer(visit.exchange.outlet, era=Era.MODERN, level=level)
        return await self.guard.ask(question, link, hearer, visit.exchange.inbound.caller)

    async def fetch(self, method: str, visit: Visit) -> frozenset[str]:
        """See Wing. Raises ClientError."""
        link = await self.link(visit)
        if isinstance(link, Failure):
            raise NotUnderstood(link.code)
        entries, _ = await fetch_all(asking(self.warden.upstream, link, method, Era.MODERN), SHAPES[method])
        return frozenset(entries)


class SessionWing:
    """An upstream in one legacy session of a client."""

    def __init__(self, warden: Warden, session: GuardSession) -> None:
        self.warden = warden
        self.session = session

    @property
    def offered(self) -> JsonObject:
        """See Wing."""
        return _object(self.session.opened.get("capabilities"))

    async def relay(self, question: Question, visit: Visit) -> Relayed:
        """See Wing."""
        return await self.session.relay(question, visit.exchange)

    async def list(self, question: Question, visit: Visit) -> Answer | Failure:
        """See Wing."""
        return await self.session.list(question, visit.exchange)

    async def open(self, visit: Visit) -> None:
        """See Wing: it tells when its session begins, and who did not open is tried again without anybody waiting."""

    async def fetch(self, method: str, visit: Visit) -> frozenset[str]:  # noqa: ARG002 - the session is the client's
        """See Wing. Raises ClientError."""
        link = await self.session.live_link()
        entries, _ = await fetch_all(asking(self.warden.upstream, link, method, Era.LEGACY), SHAPES[method])
        return frozenset(entries)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
