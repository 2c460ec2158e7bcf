"""Who may call what: a table of rules, judged by one pure function.

    1. the filter of the upstream: what it leaves out is denied
    2. a deny rule that fits denies
    3. an allow rule that fits allows
    4. an allow rule for this tool that does not fit (another role, other arguments) denies
    5. otherwise the default

The order of rules never matters. A pattern is a shell pattern: `*` any text, `?` one character, `[ab]` one of these.
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
NO_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType({})
NOBODY: Final = ""
"""The role of a caller that has none, so that `roles = [""]` can name it."""


class Effect(StrEnum):
    """What a rule does with the calls it fits."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the policy. A call fits if every member does; a member that is left out fits everything."""

    name: str
    """Stands in the audit trail and in the log, never in an answer."""
    effect: Effect
    tools: tuple[str, ...] = ANY
    """Patterns of names as clients see them."""
    upstreams: tuple[str, ...] = ANY
    principals: tuple[str, ...] = ANY
    roles: tuple[str, ...] = ANY
    tiers: tuple[str, ...] = ANY
    arguments: Mapping[str, str] = field(default_factory=lambda: NO_ARGUMENTS)
    """Member (`path`, or `options.path` inside another) to a pattern of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which tools of an upstream are used at all, by patterns of its own names. Denied wins."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def permits(self, own: str) -> bool:
        """Whether a tool of this name is used; without `allow` everything that is not denied is."""
        return not _fits(self.deny, own) and (not self.allow or _fits(self.allow, own))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who wants to call what."""

    tool: str
    """As the client calls it."""
    own: str
    """As the upstream calls it."""
    upstream: str = "upstream"
    principal: str = "local"
    role: str | None = None
    tier: str = "core"
    arguments: Mapping[str, JsonValue] | None = None
    """None asks whether it could be called with any arguments at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the table says, and the rule that said it."""

    allowed: bool
    rule: str


FILTERED: Final = Verdict(allowed=False, rule="filter")
DEFAULTS: Final[Mapping[Effect, Verdict]] = MappingProxyType(
    {effect: Verdict(allowed=effect is Effect.ALLOW, rule="default") for effect in Effect}
)


def judge(rules: Sequence[Rule], subject: Subject, *, chosen: Filter, default: Effect) -> Verdict:
    """See the module."""
    if not chosen.permits(subject.own):
        return FILTERED
    about = [rule for rule in rules if _fits(rule.tools, subject.tool) and _fits(rule.upstreams, subject.upstream)]
    denying = next((rule for rule in about if rule.effect is Effect.DENY and _fits_call(rule, subject)), None)
    if denying is not None:
        return Verdict(allowed=False, rule=denying.name)
    allowing = [rule for rule in about if rule.effect is Effect.ALLOW]
    fitting = next((rule for rule in allowing if _fits_call(rule, subject)), None)
    if fitting is not None:
        return Verdict(allowed=True, rule=fitting.name)
    return Verdict(allowed=False, rule=allowing[0].name) if allowing else DEFAULTS[default]


def depends_on_caller(rules: Sequence[Rule]) -> bool:
    """Whether two callers may be shown different lists."""
    return any((rule.principals, rule.roles, rule.tiers) != (ANY, ANY, ANY) for rule in rules)


def _fits_call(rule: Rule, subject: Subject) -> bool:
    caller = (
        (rule.principals, subject.principal),
        (rule.roles, subject.role or NOBODY),
        (rule.tiers, subject.tier),
    )
    return all(_fits(patterns, text) for patterns, text in caller) and _fits_arguments(rule, subject.arguments)


def _fits_arguments(rule: Rule, arguments: Mapping[str, JsonValue] | None) -> bool:
    """A denial needs one value that fits; a permission needs all of them to, and at least one to be there."""
    if not rule.arguments:
        return True
    if arguments is None:
        return rule.effect is Effect.ALLOW
    enough = any if rule.effect is Effect.DENY else _all_of_some
    return all(
        enough([fnmatchcase(text, pattern) for text in _texts(_member(arguments, path))])
        for path, pattern in rule.arguments.items()
    )


def _all_of_some(found: Sequence[bool]) -> bool:
    return bool(found) and all(found)


def _fits(patterns: Sequence[str], text: str) -> bool:
    return any(pattern == "*" or fnmatchcase(text, pattern) for pattern in patterns)


def _member(arguments: Mapping[str, JsonValue], path: str) -> JsonValue:
    """A member whose whole name is the path, or the one that its parts lead to."""
    if path in arguments:
        return arguments[path]
    value: JsonValue = dict(arguments)
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text in a value; numbers and words as JSON writes them. Null counts as not given."""
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
