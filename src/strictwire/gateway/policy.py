"""What the rules and limits mean for one upstream: denied, counted, shown or hidden; or, in a dry run, only told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.rates import Limit, Rates, wait_ms
from strictwire.gateway.rules import Effect, Filter, Rule, Subject, depends_on_caller, judge
from strictwire.pipeline.call import Call, Caller, Kind
from strictwire.pipeline.compiled import CompiledTool

DRY: Final = "dry-run:"
"""Stands before the version of a policy that is not enforced."""

NO_FILTER: Final = Filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statutes:
    """The rules of one guard, for all of its upstreams."""

    rules: tuple[Rule, ...] = ()
    limits: tuple[Limit, ...] = ()
    default: Effect = Effect.ALLOW
    dry_run: bool = False
    """Whether a denial is only told and recorded."""

    def version(self, filters: Sequence[Filter]) -> str:
        """Names the policy in the audit trail by what it says."""
        if self == Statutes(dry_run=self.dry_run) and all(each == NO_FILTER for each in filters):
            return "none"
        said = digest(_as_json(self, filters))
        return DRY + said if self.dry_run else said


class GuardPolicy:
    """The statutes as they apply to one upstream."""

    def __init__(
        self,
        statutes: Statutes,
        rates: Rates,
        *,
        upstream: str = "upstream",
        chosen: Filter = NO_FILTER,
        version: str = "none",
    ) -> None:
        self.version = version
        self.dry_run = statutes.dry_run
        self._statutes = statutes
        self._rates = rates
        self._upstream = upstream
        self._chosen = chosen
        self._is_open = not statutes.rules and chosen == NO_FILTER and statutes.default is Effect.ALLOW
        self._is_silent = self._is_open and not statutes.limits
        self.is_personal = not statutes.dry_run and depends_on_caller(statutes.rules)
        """Whether two callers may be shown different lists."""

    def leaves_out(self, own: str) -> bool:
        """Whether the filter keeps a tool from everybody. A dry run leaves nothing out."""
        return not self.dry_run and not self._chosen.permits(own)

    def hides(self, own: str, shown: str, caller: Caller) -> bool:
        """Whether this caller could not call the tool with any arguments. A dry run hides nothing."""
        if self.dry_run or self._is_open:
            return False
        return not self._allows(self._subject(own, shown, caller, None))

    def judge(self, tool: CompiledTool, call: Call) -> Failure | None:
        """PERMISSION_DENIED, or RATE_LIMITED with `retryAfterMs`; the rule stands in the cause, for the record alone."""
        if tool.kind is not Kind.TOOL or self._is_silent:
            return None
        subject = self._subject(tool.name, call.target, call.caller, call.arguments)
        verdict = judge(self._statutes.rules, subject, chosen=self._chosen, default=self._statutes.default)
        if not verdict.allowed:
            return fail("PERMISSION_DENIED", cause={"name": "policy", "rule": verdict.rule})
        exceeded = self._rates.take(subject)
        if exceeded is None:
            return None
        cause = {"name": "policy", "rule": exceeded.limit}
        return fail("RATE_LIMITED", details={"retryAfterMs": wait_ms(exceeded)}, cause=cause)

    def _allows(self, subject: Subject) -> bool:
        return judge(self._statutes.rules, subject, chosen=self._chosen, default=self._statutes.default).allowed

    def _subject(self, own: str, shown: str, caller: Caller, arguments: JsonObject | None) -> Subject:
        return Subject(
            tool=shown,
            own=own,
            upstream=self._upstream,
            principal=caller.principal,
            role=caller.role,
            tier=caller.tier,
            arguments=arguments,
        )


def _as_json(statutes: Statutes, filters: Sequence[Filter]) -> JsonObject:
    return {
        "rules": [_plain(rule) for rule in statutes.rules],
        "limits": [_plain(limit) for limit in statutes.limits],
        "default": statutes.default.value,
        "filters": [_plain(each) for each in filters],
    }


def _plain(record: Rule | Limit | Filter) -> JsonObject:
    return {each.name: _as_value(getattr(record, each.name)) for each in fields(record)}


def _as_value(value: object) -> JsonValue:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value  # type: ignore[return-value]  # text and numbers
