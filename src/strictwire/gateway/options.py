"""How one upstream, or one of its tools, is guarded: strictness, time limits, sizes, who may use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.contract.tool import Caps
from strictwire.pipeline.call import Caller
from strictwire.pipeline.stages import allows_tier
from strictwire.profiles.mcp.quota import IDLE_SECONDS, SessionLimits, fair_limits


class Mode(StrEnum):
    """What happens when arguments or results break the contract."""

    OBSERVE = "observe"
    """Relayed, and logged at level info."""
    WARN = "warn"
    """Relayed, and logged as a warning."""
    ENFORCE = "enforce"
    """Refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayOptions:
    """The options of one upstream, or of one of its tools."""

    mode: Mode = Mode.ENFORCE
    idle_seconds: float = 60.0
    """How long an upstream may send nothing during a call. Progress, log messages and questions restart the time."""
    total_seconds: float = 600.0
    """How long a call may take in all. A person who is asked something has this long to answer."""
    liveness_seconds: float = 5.0
    """How long an upstream has to answer a health check before it counts as down; after a timed-out call, also before its
    process is ended."""
    health_seconds: float = 30.0
    """Time between two health checks of an idle upstream."""
    response_bytes: int = 4 * 1024 * 1024
    """Size of one result."""
    concurrency: int = 1024
    """Calls that may run at once."""
    mask: bool = True
    """Remove secrets, stack traces and paths from error texts."""
    bridge: bool = True
    """Serve clients of an era that the upstream does not speak."""
    tier: str = "core"
    """The lowest tier of callers that may use the upstream, or the tool."""
    roles: frozenset[str] = frozenset()
    """Roles that may use the upstream, or the tool; empty for any."""
    session_idle_seconds: float = IDLE_SECONDS
    """A legacy session without a request for this long is ended, and with it its process."""
    sessions_per_principal: int | None = None
    """Legacy sessions of one principal; None for half of all."""
    tools: Mapping[str, RelayOptions] = field(default_factory=lambda: NO_TOOLS)
    """Tools with options of their own, by the upstream's names."""

    @property
    def caps(self) -> Caps:
        """The limits in the form of the pipeline."""
        return Caps(
            timeout_ms=int(self.total_seconds * 1000), response_bytes=self.response_bytes, concurrency=self.concurrency
        )

    def permits(self, caller: Caller) -> bool:
        """Whether tier and role of a caller are sufficient."""
        return allows_tier(caller.tier, self.tier) and (not self.roles or caller.role in self.roles)

    @property
    def depends_on_caller(self) -> bool:
        """Whether some caller may not use the upstream, or one of its tools."""
        return any(each.tier != "core" or each.roles for each in (self, *self.tools.values()))

    def session_limits(self, total: int) -> SessionLimits:
        """How many sessions with the upstream are kept for clients."""
        return fair_limits(total, idle_seconds=self.session_idle_seconds, per_principal=self.sessions_per_principal)

    def of_tool(self, own_name: str) -> RelayOptions:
        """The options of one tool."""
        return self.tools.get(own_name, self)


NO_TOOLS: Final[Mapping[str, RelayOptions]] = MappingProxyType({})
