"""One upstream among several, as the router sees it for one client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from strictwire.canon.json import JsonObject
from strictwire.client.errors import NotUnderstood
from strictwire.fault.failure import Failure
from strictwire.gateway.links.health import Health
from strictwire.gateway.links.listing import fetch_list
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.relayed_call import ClientLink, ClientRequest, Relayed
from strictwire.gateway.upstream_calls import UpstreamCalls


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedUpstream:
    """An upstream with the names and resources that are configured for it."""

    calls: UpstreamCalls
    naming: Naming = field(default_factory=Naming)
    resources: tuple[str, ...] = ()
    """Patterns of URIs that belong to this upstream, whatever others list."""

    @property
    def name(self) -> str:
        """The configured name."""
        return self.calls.upstream.target.name

    @property
    def health(self) -> Health:
        """Its state."""
        return self.calls.upstream.health


class UpstreamClient(Protocol):
    """How a client reaches one upstream: StatelessUpstream, or the UpstreamSession of its legacy session."""

    @property
    def offered(self) -> JsonObject:
        """The upstream's capabilities, as far as they are known."""

    async def connect(self, request: ClientRequest) -> ClientLink | Failure:
        """The link for one request."""

    async def relay(self, request: ClientRequest) -> Relayed:
        """Relay one request."""

    async def discover(self, request: ClientRequest) -> None:
        """Find out what the upstream offers, if that is not known. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamView:
    """A named upstream, and how one client (or all clients of the stateless era) reaches it."""

    upstream: NamedUpstream
    client: UpstreamClient

    async def list_page(self, request: ClientRequest) -> UpstreamAnswer | Failure:
        """One page of a list, without what the caller may not see."""
        via = await self.client.connect(request)
        return via if isinstance(via, Failure) else await self.upstream.calls.relay_simple(request, via)

    async def fetch_keys(self, method: str, request: ClientRequest) -> frozenset[str]:
        """The keys of a whole list, also of entries that the caller may not see. Raises ClientError."""
        via = await self.client.connect(request)
        if isinstance(via, Failure):
            raise NotUnderstood(via.code)
        entries = await fetch_list(self.upstream.calls.upstream, via.link, method, via.listener.era)
        return frozenset(entries)
