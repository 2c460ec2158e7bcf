"""The guard's rules and rate limits as they apply to one upstream: what is hidden, which calls are refused."""

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


def _same_name(_kind: Kind, own_name: str) -> str:
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
        client_name: Callable[[Kind, str], str] = _same_name,
    ) -> None:
        """`client_name` turns the upstream's own name of a tool or prompt into the one that clients see."""
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
        """Two callers may see different lists."""
        self.denies_unknown = not rules.dry_run and rules.default is Effect.DENY
        """Methods that no rule can name are denied."""

    def leaves_out(self, own_name: str) -> bool:
        """Whether the filter hides a tool from every caller. A dry run leaves out nothing."""
        return not self.dry_run and not self._filter.permits(own_name)

    def hides(self, kind: Kind, own_name: str, caller: Caller) -> bool:
        """Whether this caller could not use the target with any arguments. A dry run hides nothing."""
        if self.dry_run or self._allows_all:
            return False
        return not self._decide(self._request(kind, self._client_name(kind, own_name), caller, own_name=own_name)).allowed

    def find_refusal(self, tool: CompiledTool, call: Call) -> Failure | None:
        """PERMISSION_DENIED, or RATE_LIMITED with `retryAfterMs`. The cause names the rule, for the audit record only."""
        if self.is_empty:
            return None
        if call.kind is Kind.COMPLETION:
            wanted = self._completed(call)
        else:
            wanted = self._request(call.kind, call.target, call.caller, own_name=tool.name, arguments=call.arguments)
        decision = self._decide(wanted)
        if not decision.allowed:
            return _denied(decision)
        exceeded = self._limiter.take(wanted)
        if exceeded is None:
            return None
        cause = {"name": "policy", "rule": exceeded.limit}
        return fail("RATE_LIMITED", details={"retryAfterMs": exceeded.retry_after_ms}, cause=cause)

    def find_denial(self, uri: str, caller: Caller) -> Failure | None:
        """PERMISSION_DENIED for a subscription to a resource; it is no call, so no rate limit counts it."""
        if self._allows_all:
            return None
        decision = self._decide(self._request(Kind.RESOURCE, uri, caller))
        return None if decision.allowed else _denied(decision)

    def _completed(self, call: Call) -> AccessRequest:
        """The prompt or the resource whose arguments are completed."""
        ref = call.arguments["ref"]
        if ref["type"] == "ref/resource":
            return self._request(Kind.RESOURCE, ref["uri"], call.caller)
        return self._request(Kind.PROMPT, self._client_name(Kind.PROMPT, ref["name"]), call.caller)

    def _decide(self, wanted: AccessRequest) -> Decision:
        return decide(self._rules.rules, wanted, tool_filter=self._filter, default=self._rules.default)

    def _request(
        self, kind: Kind, target: str, caller: Caller, *, own_name: str = "", arguments: JsonObject | None = None
    ) -> AccessRequest:
        return AccessRequest(
            kind=kind,
            target=target,
            own_name=own_name,
            upstream=self._upstream,
            principal=caller.principal,
            role=caller.role,
            tier=caller.tier,
            arguments=arguments,
        )


def _denied(decision: Decision) -> Failure:
    return fail("PERMISSION_DENIED", cause={"name": "policy", "rule": decision.rule})
