"""Access rules: who may use which tool, prompt or resource, with which arguments. Decided by one pure function, `decide`.

    1. a tool that the upstream's filter leaves out is denied
    2. a deny rule that matches the call denies it
    3. an allow rule that matches the call allows it
    4. an allow rule for this target that does not match (another role, other arguments) denies it
    5. otherwise the default applies

The order of the rules never matters. Patterns are shell patterns: `*` any text, `?` one character, `[ab]` one of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from strictwire.canon.json import JsonObject
from strictwire.gateway.policy.argument_paths import Condition
from strictwire.pipeline.call import Kind

ANY: Final = ("*",)
NO_ROLE: Final = ""
"""Stands for the role of a caller that has none, so that `roles = [""]` can name it."""


class Effect(StrEnum):
    """What a rule does with the calls that it matches."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. It matches a call if every member does; a member that is left out matches everything."""

    name: str
    """Appears in the audit trail and in the log, never in an answer."""
    effect: Effect
    tools: tuple[str, ...] = ()
    """Patterns of tool names as clients see them."""
    prompts: tuple[str, ...] = ()
    """Patterns of prompt names as clients see them."""
    resources: tuple[str, ...] = ()
    """Patterns of URIs. A template is matched by its own text."""
    upstreams: tuple[str, ...] = ANY
    principals: tuple[str, ...] = ANY
    roles: tuple[str, ...] = ANY
    tiers: tuple[str, ...] = ANY
    arguments: tuple[Condition, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """Every pattern of a target that the rule names."""
        return (*self.tools, *self.prompts, *self.resources)

    def patterns(self, kind: Kind) -> tuple[str, ...]:
        """Patterns of the targets of this kind that the rule is about; empty if it is about none.

        A rule that names no targets is about all; one with conditions on arguments only about what has arguments.
        """
        if self.targets:
            return {Kind.TOOL: self.tools, Kind.PROMPT: self.prompts, Kind.RESOURCE: self.resources}[kind]
        return () if self.arguments and kind is Kind.RESOURCE else ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which tools of an upstream are used at all, by patterns of the upstream's own names. `deny` wins."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def permits(self, own_name: str) -> bool:
        """Whether a tool is used. Without `allow`, every tool that is not denied is."""
        return not matches_any(self.deny, own_name) and (not self.allow or matches_any(self.allow, own_name))


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """Who wants to use what."""

    kind: Kind = Kind.TOOL
    """A tool, a prompt or a resource. A completion is a use of the prompt or resource that it completes."""
    target: str
    """The name as the client sees it, or the URI."""
    own_name: str
    """The name at its upstream."""
    upstream: str = "upstream"
    principal: str = "local"
    role: str | None = None
    tier: str = "core"
    arguments: JsonObject | None = None
    """None asks whether the target could be used with any arguments at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether a call is allowed, and the rule that decided it."""

    allowed: bool
    rule: str


FILTERED: Final = Decision(allowed=False, rule="filter")
DEFAULTS: Final[Mapping[Effect, Decision]] = MappingProxyType(
    {effect: Decision(allowed=effect is Effect.ALLOW, rule="default") for effect in Effect}
)


def decide(rules: Sequence[Rule], wanted: AccessRequest, *, tool_filter: Filter, default: Effect) -> Decision:
    """Apply the ladder of the module docstring."""
    if wanted.kind is Kind.TOOL and not tool_filter.permits(wanted.own_name):
        return FILTERED
    forms = _forms(wanted)
    about = [
        rule
        for rule in rules
        if matches_any(rule.upstreams, wanted.upstream)
        and any(matches_any(rule.patterns(wanted.kind), form) for form in forms)
    ]
    denying = next((rule for rule in about if rule.effect is Effect.DENY and _matches_call(rule, wanted)), None)
    if denying is not None:
        return Decision(allowed=False, rule=denying.name)
    allowing = [rule for rule in about if rule.effect is Effect.ALLOW]
    matching = next(
        (rule for rule in allowing if _names_all(rule, wanted.kind, forms) and _matches_call(rule, wanted)), None
    )
    if matching is not None:
        return Decision(allowed=True, rule=matching.name)
    return Decision(allowed=False, rule=allowing[0].name) if allowing else DEFAULTS[default]


def _forms(wanted: AccessRequest) -> tuple[str, ...]:
    """The target as it was sent and, of a URI, as most servers understand it. A deny rule needs to name one of them, an
    allow rule all."""
    if wanted.kind is not Kind.RESOURCE:
        return (wanted.target,)
    scheme, colon, rest = wanted.target.partition(":")
    # The slashes before the host are no segments, so they stay.
    start = len(rest) - len(rest.lstrip("/"))
    plain = rest[:start] + _without_dots(unquote(rest[start:]))
    return (wanted.target, scheme.lower() + colon + plain)


def _without_dots(path: str) -> str:
    """The path without `.` and `..`."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)


def _names_all(rule: Rule, kind: Kind, forms: Sequence[str]) -> bool:
    return all(matches_any(rule.patterns(kind), form) for form in forms)


def depends_on_caller(rules: Sequence[Rule]) -> bool:
    """Whether two callers may see different lists."""
    return any((rule.principals, rule.roles, rule.tiers) != (ANY, ANY, ANY) for rule in rules)


def _matches_call(rule: Rule, wanted: AccessRequest) -> bool:
    caller = ((rule.principals, wanted.principal), (rule.roles, wanted.role or NO_ROLE), (rule.tiers, wanted.tier))
    return all(matches_any(patterns, text) for patterns, text in caller) and _matches_arguments(rule, wanted.arguments)


def _matches_arguments(rule: Rule, arguments: JsonObject | None) -> bool:
    """A deny rule needs one matching value; an allow rule needs all values to match, and at least one to be present."""
    if not rule.arguments:
        return True
    if arguments is None:
        return rule.effect is Effect.ALLOW
    return all(_suffices(rule.effect, condition.matches_each(arguments)) for condition in rule.arguments)


def _suffices(effect: Effect, found: Sequence[bool] | None) -> bool:
    """Whether a condition holds. One that cannot be decided holds for a deny rule and not for an allow rule."""
    if effect is Effect.DENY:
        return found is None or any(found)
    return bool(found) and all(found or ())


def matches_any(patterns: Sequence[str], text: str) -> bool:
    """Whether one of the patterns matches."""
    return any(pattern == "*" or fnmatchcase(text, pattern) for pattern in patterns)
