"""Finds parts of the policy that refer to nothing: a misspelled tool in a deny rule would otherwise permit it in silence."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.gateway.policy.argument_paths import Condition, Wildcard
from strictwire.gateway.policy.guard_policy import PolicyRules
from strictwire.gateway.policy.rules import ANY, Filter, Rule, matches_any
from strictwire.gateway.policy.schema_paths import SchemaPaths
from strictwire.pipeline.call import Kind

log = logging.getLogger("strictwire.guard")

NO_ENTRIES: Final[Mapping[str, JsonObject]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What one upstream lists. An upstream that cannot be reached has none of these, and nothing is said about it."""

    tools: Mapping[str, JsonObject] = field(default_factory=lambda: NO_ENTRIES)
    """By the names that clients see."""
    own_tools: frozenset[str] = frozenset()
    """The upstream's own names."""
    prompts: Mapping[str, JsonObject] | None = field(default_factory=lambda: NO_ENTRIES)
    """By the names that clients see; None if they are not known."""
    has_resources: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamTables:
    """What the settings say about the tools of one upstream, by its own names."""

    tool_filter: Filter = field(default_factory=Filter)
    renamed: tuple[str, ...] = ()
    configured: tuple[str, ...] = ()
    """Tools with a table of their own."""

    def references(self) -> Iterator[tuple[str, str]]:
        """Every pattern or name of a tool, with the key that it is in."""
        yield from (("allow", each) for each in self.tool_filter.allow)
        yield from (("deny", each) for each in self.tool_filter.deny)
        yield from (("rename", each) for each in self.renamed)
        yield from (("tools", each) for each in self.configured)


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The policy and the tables of all upstreams."""

    policy: PolicyRules
    upstreams: Mapping[str, UpstreamTables]

    def __bool__(self) -> bool:
        """Whether anything refers to what upstreams list."""
        named = any(rule.targets or rule.arguments or rule.upstreams != ANY for rule in self.policy.rules)
        tables = any(True for each in self.upstreams.values() for _ in each.references())
        return named or tables or any(limit.tools for limit in self.policy.limits)

    def find_dead(self, offered: Mapping[str, Offered]) -> list[str]:
        """What refers to nothing, each with the place and the nearest names. Upstreams that are missing from `offered` may
        offer anything, so nothing that could be about them is reported.
        """
        return [*self._dead_tables(offered), *self._dead_rules(offered), *self._dead_limits(offered)]

    def _dead_tables(self, offered: Mapping[str, Offered]) -> Iterator[str]:
        for name, tables in self.upstreams.items():
            if name in offered:
                listed = offered[name].own_tools
                for key, pattern in tables.references():
                    if not _matches_one(pattern, listed):
                        yield f"guard.upstreams.{name}.{key}: no tool matches {pattern!r}{_hint(pattern, listed)}"

    def _dead_rules(self, offered: Mapping[str, Offered]) -> Iterator[str]:
        paths = SchemaPaths()
        for rule in self.policy.rules:
            for pattern in rule.upstreams:
                if not _matches_one(pattern, self.upstreams) and pattern != "*":
                    yield f"{rule.name}: no upstream matches {pattern!r}{_hint(pattern, self.upstreams)}"
            covered = [name for name in self.upstreams if matches_any(rule.upstreams, name)]
            if covered and all(name in offered for name in covered):
                yield from _dead_targets(rule, [offered[name] for name in covered], paths)

    def _dead_limits(self, offered: Mapping[str, Offered]) -> Iterator[str]:
        if all(name in offered for name in self.upstreams):
            listed = [tool for each in offered.values() for tool in each.tools]
            for limit in self.policy.limits:
                for pattern in limit.tools:
                    if not _matches_one(pattern, listed):
                        yield f"{limit.name}: no tool matches {pattern!r}{_hint(pattern, listed)}"


def _dead_targets(rule: Rule, offered: Sequence[Offered], paths: SchemaPaths) -> Iterator[str]:
    tools = {name: entry for each in offered for name, entry in each.tools.items()}
    prompts = {name: entry for each in offered for name, entry in (each.prompts or {}).items()}
    if any(each.prompts is None for each in offered) and (rule.prompts or rule.arguments):
        return
    for kind, patterns, listed in (("tool", rule.tools, tools), ("prompt", rule.prompts, prompts)):
        for pattern in patterns:
            if not _matches_one(pattern, listed):
                yield f"{rule.name}: no {kind} matches {pattern!r}{_hint(pattern, listed)}"
    if rule.resources and not any(each.has_resources for each in offered):
        # Resources need not be listed, so a pattern of URIs that matches none of the list may still be needed.
        yield f"{rule.name}: no upstream that it covers offers resources"
    schemas = [entry.get("inputSchema") for name, entry in tools.items() if matches_any(rule.patterns(Kind.TOOL), name)]
    arguments = [_argument_names(entry) for name, entry in prompts.items() if matches_any(rule.patterns(Kind.PROMPT), name)]
    for condition in rule.arguments if schemas or arguments else ():
        in_tools = any(paths.may_exist(schema, condition.path) for schema in schemas)
        if not in_tools and not any(_is_among(condition, names) for names in arguments):
            yield f"{rule.name}: nothing that it covers has the argument {_text(condition)!r}"


def _argument_names(prompt: JsonObject) -> frozenset[str]:
    arguments = prompt.get("arguments")
    given = arguments if isinstance(arguments, list) else []
    return frozenset(each["name"] for each in given if isinstance(each, dict) and isinstance(each.get("name"), str))


def _is_among(condition: Condition, names: frozenset[str]) -> bool:
    first = condition.path[0]
    return bool(names) if isinstance(first, Wildcard) else first in names


def _text(condition: Condition) -> str:
    names = (
        each.value if isinstance(each, Wildcard) else each.replace("~", "~0").replace("/", "~1") for each in condition.path
    )
    return "".join(f"/{each}" for each in names)


def _matches_one(pattern: str, names: Iterable[str]) -> bool:
    return any(matches_any((pattern,), name) for name in names)


def _hint(pattern: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(pattern, list(names)[:1000], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


class ReferenceWatch:
    """Compares the policy with what the upstreams list, and logs what has come to refer to nothing."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._offered: dict[str, Offered] = {}
        self._logged: set[str] = set()

    def start(self, offered: Mapping[str, Offered]) -> list[str]:
        """What refers to nothing at the start, by the upstreams that could be reached."""
        self._offered = dict(offered)
        dead = self._references.find_dead(self._offered)
        self._logged.update(dead)
        return dead

    def note_tools(self, upstream: str, tools: Mapping[str, JsonObject], own_tools: Iterable[str]) -> None:
        """An upstream has listed its tools again; `tools` are by the names that clients see."""
        known = self._offered.get(upstream) or Offered(prompts=None, has_resources=True)
        if not self._references or known.tools == tools:
            return
        self._offered[upstream] = replace(known, tools=tools, own_tools=frozenset(own_tools))
        for each in self._references.find_dead(self._offered):
            if each not in self._logged:
                self._logged.add(each)
                log.warning("the policy refers to nothing: %s", each)
