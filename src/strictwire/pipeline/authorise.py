"""Stage 2: may this caller? Tier, role, then the policy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Call, Operation

TIERS: Final[Mapping[str, int]] = MappingProxyType(
    {"core": 0, "pro": 1, "tier1": 1, "studio": 2, "tier2": 2, "enterprise": 3, "tier3": 3, "tier4": 4}
)
"""The order of tiers. A tool of a tier that is not named here is above all; a caller of one has only that and the lowest."""


class Policy(Protocol):
    """Rules of whoever runs the server."""

    version: str

    def judge(self, operation: Operation, call: Call) -> Failure | None:
        """A failure if the call is denied."""


class AllowAll:
    """The policy where none is configured."""

    version = "none"

    def judge(self, operation: Operation, call: Call) -> Failure | None:  # noqa: ARG002 - the seam's signature
        """Nothing is denied."""
        return None


def authorise(operation: Operation, call: Call, policy: Policy) -> Failure | None:
    """PERMISSION_DENIED by tier, by role, or whatever the policy says."""
    if not allows_tier(call.caller.tier, operation.tier):
        return fail("PERMISSION_DENIED", details={"requiredTier": operation.tier, "currentTier": call.caller.tier})
    if operation.roles and call.caller.role not in operation.roles:
        return fail("PERMISSION_DENIED", details={"requiredRoles": sorted(operation.roles)})
    return policy.judge(operation, call)


def allows_tier(current: str, required: str) -> bool:
    """Whether a caller of one tier may use a tool of another."""
    return current == required or TIERS.get(required, len(TIERS)) <= TIERS.get(current, 0)
