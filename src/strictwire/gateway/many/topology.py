"""The upstreams of one guard and what all of its clients share about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from strictwire.gateway.many.owners import Owners
from strictwire.gateway.many.upstream_view import NamedUpstream
from strictwire.gateway.policy.guard_policy import GuardPolicy
from strictwire.profiles.mcp.identity import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Several upstreams behind one endpoint."""

    upstreams: tuple[NamedUpstream, ...]
    """In the order of the settings."""
    identity: Identity
    """What the guard calls itself."""
    elapsed: Callable[[], float]
    policy: GuardPolicy
    """For the guard's own resources."""
    owners: Owners = field(default_factory=Owners)
