"""Access rules: who may call which tool with which arguments. Decided by one pure function, `decide`.

    1. a tool that the upstream's filter leaves out is denied
    2. a deny rule that matches the call denies it
    3. an allow rule that matches the call allows it
    4. an allow rule for this tool that does not match (another role, other arguments) denies it
    5. otherwise the default applies

The order of the rules never matters. Patterns are shell patterns: `*` any text, `?` one character, `[ab]` one of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonValue, render

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
    tools: tuple[str, ...] = ANY
    """Patterns of tool names as clients see them."""
    upstreams: tuple[str, ...] = ANY
    principals: tuple[str, ...] = ANY
    roles: tuple[str, ...] = ANY
    tiers: tuple[str, ...] = ANY
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Argument (`path`, or `options.path` for a nested one) to a pattern of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which tools of an upstream are used at all, by patterns of the upstream's own names. `deny` wins."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def permits(self, own_name: str) -> bool:
        """Whether a tool is used. Without `allow`, every tool that is not denied is."""
        return not _matches(self.deny, own_name) and (not self.allow or _matches(self.allow, own_name))


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """Who wants to call what."""

    tool: str
    """The tool's name as the client sees it."""
    own_name: str
    """The tool's name at its upstream."""
    upstream: str = "upstream"
    principal: str = "local"
    role: str | None = None
    tier: str = "core"
    arguments: Mapping[str, JsonValue] | None = None
    """None asks whether the tool could be called with any arguments at all."""


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
    if not tool_filter.permits(wanted.own_name):
        return FILTERED
    about = [rule for rule in rules if _matches(rule.tools, wanted.tool) and _matches(rule.upstreams, wanted.upstream)]
    denying = next((rule for rule in about if rule.effect is Effect.DENY and _matches_call(rule, wanted)), None)
    if denying is not None:
        return Decision(allowed=False, rule=denying.name)
    allowing = [rule for rule in about if rule.effect is Effect.ALLOW]
    matching = next((rule for rule in allowing if _matches_call(rule, wanted)), None)
    if matching is not None:
        return Decision(allowed=True, rule=matching.name)
    return Decision(allowed=False, rule=allowing[0].name) if allowing else DEFAULTS[default]


def depends_on_caller(rules: Sequence[Rule]) -> bool:
    """Whether two callers may see different lists of tools."""
    return any((rule.principals, rule.roles, rule.tiers) != (ANY, ANY, ANY) for rule in rules)


def _matches_call(rule: Rule, wanted: AccessRequest) -> bool:
    caller = ((rule.principals, wanted.principal), (rule.roles, wanted.role or NO_ROLE), (rule.tiers, wanted.tier))
    return all(_matches(patterns, text) for patterns, text in caller) and _matches_arguments(rule, wanted.arguments)


def _matches_arguments(rule: Rule, arguments: Mapping[str, JsonValue] | None) -> bool:
    """A deny rule needs one matching value; an allow rule needs all values to match, and at least one to be present."""
    if not rule.arguments:
        return True
    if arguments is None:
        return rule.effect is Effect.ALLOW
    enough = any if rule.effect is Effect.DENY else _all_and_any
    return all(
        enough([fnmatchcase(text, pattern) for text in _texts(_argument(arguments, path))])
        for path, pattern in rule.arguments.items()
    )


def _all_and_any(found: Sequence[bool]) -> bool:
    return bool(found) and all(found)


def _matches(patterns: Sequence[str], text: str) -> bool:
    return any(pattern == "*" or fnmatchcase(text, pattern) for pattern in patterns)


def _argument(arguments: Mapping[str, JsonValue], path: str) -> JsonValue:
    """The argument whose whole name is the path, or the nested one that the path leads to."""
    if path in arguments:
        return arguments[path]
    value: JsonValue = dict(arguments)
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text in a value; numbers and booleans as JSON writes them. Null counts as absent."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif value is not None:
        yield render(value).decode()
