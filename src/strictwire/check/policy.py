"""The lint policy of a project: ruleset, category, and exceptions with their reasons. `settings` reads it from a file:

[lint]
ruleset = "2026.11"
category = "STRICT"
also = ["CODE"]
without = { NAME_LENGTH = "our gateway cuts the prefix" }
page_cap = 200

[[lint.waivers]]
rule = "LOCATION_BY_URI"
tool = "workspace_*"
pointer = "/properties/path"
reason = "the published document of this tool fixes the name"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final, TypeVar

from strictwire.check.finding import Finding, Impact
from strictwire.check.rule import Category, Semantics
from strictwire.check.rulesets import LATEST, RULESETS, Ruleset
from strictwire.check.tree import DEFAULT_PARAMETERS, LintParameters


class PolicyRefused(ValueError):
    """The policy is invalid. The message names the key and the expected value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Accepts findings of one rule. `tool` and `pointer` are shell patterns; a reason is mandatory."""

    rule: str
    reason: str
    tool: str = "*"
    pointer: str = "*"

    def covers(self, finding: Finding) -> bool:
        """Whether the waiver matches the finding. `pointer` may match only the end, so it need not name the list entry."""
        return (
            self.rule == finding.rule
            and fnmatchcase(finding.tool, self.tool)
            and (fnmatchcase(finding.pointer, self.pointer) or fnmatchcase(finding.pointer, f"*{self.pointer}"))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LintPolicy:
    """A `[lint]` or `[breaking]` table; the module docstring has an example."""

    ruleset: str = LATEST
    category: Category | None = None
    """None: the default of the ruleset."""
    also: tuple[Category, ...] = ()
    without: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Rules that do not run, each with its reason."""
    waivers: tuple[Waiver, ...] = ()
    parameters: LintParameters = DEFAULT_PARAMETERS
    select: tuple[str, ...] = ()
    """Rules and categories to run instead of `category` and `also`."""
    ignore: tuple[str, ...] = ()
    """Rules and categories that do not run. For a decision that stays, use `without`, which has a reason."""
    semantics: Semantics | None = None
    """For `breaking`: the question to answer. None: that of the ruleset."""
    fail_on: Impact | None = None
    """For `breaking`: the least grave tier that fails. None: that of the ruleset."""
    file: str = "strictwire.toml"
    """The settings file, for findings about the waivers in it."""


def choose_ruleset(policy: LintPolicy) -> Ruleset:
    """The ruleset that a policy names. Raises PolicyRefused if it does not exist."""
    if policy.ruleset not in RULESETS:
        raise PolicyRefused(f"unknown ruleset {policy.ruleset!r}; known: {', '.join(RULESETS)}")
    return RULESETS[policy.ruleset]


_SHARED_KEYS: Final = frozenset({"ruleset", "select", "ignore", "without", "waivers"})
_LINT_KEYS: Final = _SHARED_KEYS | {"category", "also", "page_cap", "query_cap", "null_cursor", "caps"}
_BREAKING_KEYS: Final = _SHARED_KEYS | {"semantics", "fail_on"}


def parse_policy(table: Mapping[str, Any]) -> LintPolicy:
    """Read a `[lint]` table. Raises PolicyRefused."""
    return _parse(table, "lint", _LINT_KEYS)


def parse_breaking_policy(table: Mapping[str, Any]) -> LintPolicy:
    """Read a `[breaking]` table. Raises PolicyRefused."""
    return _parse(table, "breaking", _BREAKING_KEYS)


def _parse(table: Mapping[str, Any], section: str, keys: frozenset[str]) -> LintPolicy:
    unknown = sorted(set(table) - keys)
    if unknown:
        raise PolicyRefused(f"unknown key {unknown[0]!r} in [{section}]; known: {', '.join(sorted(keys))}")
    without = table.get("without", {})
    if not isinstance(without, Mapping) or not all(_is_reason(reason) for reason in without.values()):
        raise PolicyRefused('`without` must map each rule to a reason, as in { NAME_LENGTH = "prefixed by our gateway" }')
    return LintPolicy(
        ruleset=str(table.get("ruleset", LATEST)),
        category=_category(table["category"]) if "category" in table else None,
        also=tuple(_category(name) for name in _list(table, "also")),
        without=MappingProxyType(dict(without)),
        waivers=tuple(_waiver(each) for each in _list(table, "waivers")),
        parameters=_parameters(table),
        select=tuple(map(str, _list(table, "select"))),
        ignore=tuple(map(str, _list(table, "ignore"))),
        semantics=_maybe_choice(Semantics, table, "semantics"),
        fail_on=_maybe_choice(Impact, table, "fail_on"),
    )


_Choice = TypeVar("_Choice", bound=StrEnum)


def _maybe_choice(choices: type[_Choice], table: Mapping[str, Any], name: str) -> _Choice | None:
    if name not in table:
        return None
    try:
        return choices(str(table[name]).lower())
    except ValueError:
        known = ", ".join(each.value for each in choices)
        raise PolicyRefused(f"`{name}` is {table[name]!r}; expected one of: {known}") from None


def _category(name: Any) -> Category:
    try:
        return Category(str(name).upper())
    except ValueError:
        known = ", ".join(each.value for each in Category)
        raise PolicyRefused(f"unknown category {name!r}; known: {known}") from None


def _waiver(table: Any) -> Waiver:
    if not isinstance(table, Mapping) or not _is_reason(table.get("reason")) or not isinstance(table.get("rule"), str):
        raise PolicyRefused("a waiver needs a `rule` and a `reason`; `tool` and `pointer` are optional")
    unknown = sorted(set(table) - {"rule", "reason", "tool", "pointer"})
    if unknown:
        raise PolicyRefused(f"unknown key {unknown[0]!r} in a waiver; known: rule, reason, tool, pointer")
    return Waiver(**{name: str(value) for name, value in table.items()})


def _parameters(table: Mapping[str, Any]) -> LintParameters:
    caps = table.get("caps", {})
    if not isinstance(caps, Mapping) or not all(isinstance(value, int | float) for value in caps.values()):
        raise PolicyRefused('`caps` must map `property.keyword` to a number, as in { "limit.maximum" = 100 }')
    bounds = {name: table[name] for name in ("page_cap", "query_cap") if name in table}
    if not all(isinstance(value, int) and value > 0 for value in bounds.values()):
        raise PolicyRefused("`page_cap` and `query_cap` must be integers greater than 0")
    return LintParameters(
        **bounds, null_cursor=frozenset(map(str, _list(table, "null_cursor"))), caps=MappingProxyType(dict(caps))
    )


def _list(table: Mapping[str, Any], name: str) -> list[Any]:
    value = table.get(name, [])
    if not isinstance(value, list):
        raise PolicyRefused(f"`{name}` must be a list")
    return value


def _is_reason(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
