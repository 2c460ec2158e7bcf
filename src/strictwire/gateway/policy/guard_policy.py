"""The guard's rules and rate limits as they apply to one upstream: which tools are hidden, which calls are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.policy.rates import RateLimit, RateLimiter
from strictwire.gateway.policy.rules import AccessRequest, Decision, Effect, Filter, Rule, decide, depends_on_caller
from strictwire.pipeline.call import Call, Caller, Kind
from strictwire.pipeline.compiled import CompiledTool

DRY_RUN_PREFIX: Final = "dry-run:"
"""Begins the version of a policy that is not enforced."""

NO_FILTER: Final = Filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRules:
    """The rules of one guard, for all of its upstreams."""

    rules: tuple[Rule, ...] = ()
    limits: tuple[RateLimit, ...] = ()
    default: Effect = Effect.ALLOW
    dry_run: bool = False
    """Denials are logged and recorded, and the calls go on."""

    def version(self, filters: Sequence[Filter]) -> str:
        """Names the policy in the audit trail: a digest of its rules."""
        if self == PolicyRules(dry_run=self.dry_run) and all(each == NO_FILTER for each in filters):
            return "none"
        members = {"rules": self.rules, "limits": self.limits, "default": self.default, "filters": filters}
        content = digest(msgspec.to_builtins(members))
        return DRY_RUN_PREFIX + content if self.dry_run else content


def _same_name(own_name: str) -> str:
    return own_name


class GuardPolicy:
    """The rules as they apply to one upstream."""

    def __init__(
        self,
        rules: PolicyRules,
        limiter: RateLimiter,
        *,
        upstream: str = "upstream",
        tool_filter: Filter = NO_FILTER,
        client_name: Callable[[str], str] = _same_name,
    ) -> None:
        """`client_name` turns the upstream's own name of a tool into the one that clients see."""
        self.dry_run = rules.dry_run
        self._rules = rules
        self._limiter = limiter
        self._upstream = upstream
        self._filter = tool_filter
        self._client_name = client_name
        self._allows_all = not rules.rules and tool_filter == NO_FILTER and rules.default is Effect.ALLOW
        self.is_empty = self._allows_all and not rules.limits
        """Nothing is ever refused or hidden."""
        self.depends_on_caller = not rules.dry_run and depends_on_caller(rules.rules)
        """Two callers may see different lists of tools."""

    def leaves_out(self, own_name: str) -> bool:
        """Whether the filter hides a tool from every caller. A dry run leaves out nothing."""
        return not self.dry_run and not self._filter.permits(own_name)

    def hides(self, own_name: str, caller: Caller) -> bool:
        """Whether this caller could not call the tool with any arguments. A dry run hides nothing."""
        if self.dry_run or self._allows_all:
            return False
        return not self._decide(self._request(own_name, self._client_name(own_name), caller, None)).allowed

    def find_refusal(self, tool: CompiledTool, call: Call) -> Failure | None:
        """PERMISSION_DENIED, or RATE_LIMITED with `retryAfterMs`. The cause names the rule, for the audit record only."""
        if tool.kind is not Kind.TOOL or self.is_empty:
            return None
        wanted = self._request(tool.name, call.target, call.caller, call.arguments)
        decision = self._decide(wanted)
        if not decision.allowed:
            return fail("PERMISSION_DENIED", cause={"name": "policy", "rule": decision.rule})
        exceeded = self._limiter.take(wanted)
        if exceeded is None:
            return None
        cause = {"name": "policy", "rule": exceeded.limit}
        return fail("RATE_LIMITED", details={"retryAfterMs": exceeded.retry_after_ms}, cause=cause)

    def _decide(self, wanted: AccessRequest) -> Decision:
        return decide(self._rules.rules, wanted, tool_filter=self._filter, default=self._rules.default)

    def _request(self, own_name: str, shown: str, caller: Caller, arguments: JsonObject | None) -> AccessRequest:
        return AccessRequest(
            tool=shown,
            own_name=own_name,
            upstream=self._upstream,
            principal=caller.principal,
            role=caller.role,
            tier=caller.tier,
            arguments=arguments,
        )
