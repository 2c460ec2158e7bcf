"""What a project asks of its tools: ruleset, category, exceptions with their reasons. Read from `strictwire.toml` by others.

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
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final

from strictwire.check.finding import Finding
from strictwire.check.rule import Category
from strictwire.check.rulesets import DEFAULT_CATEGORY, LADDER
from strictwire.check.tree import DEFAULT_TERMS, Terms

LATEST: Final = "2026.11"


class PolicyRefused(ValueError):
    """A policy that says something it cannot mean. The text names the key and what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Findings of one rule that somebody decided to live with. Shell patterns; a reason is not optional."""

    rule: str
    reason: str
    tool: str = "*"
    pointer: str = "*"

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is waived. A pointer is matched at its end, so that it need not name the list entry."""
        return (
            self.rule == finding.rule
            and fnmatchcase(finding.tool, self.tool)
            and (fnmatchcase(finding.pointer, self.pointer) or fnmatchcase(finding.pointer, f"*{self.pointer}"))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """See the module."""

    ruleset: str = LATEST
    category: Category = DEFAULT_CATEGORY
    also: tuple[Category, ...] = ()
    without: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Rules left out altogether, each with its reason."""
    waivers: tuple[Waiver, ...] = ()
    terms: Terms = DEFAULT_TERMS


_KEYS: Final = frozenset(
    {"ruleset", "category", "also", "without", "waivers", "page_cap", "query_cap", "null_cursor", "caps"}
)


def parse_policy(table: Mapping[str, Any]) -> Policy:
    """Read a `[lint]` or `[breaking]` table. Raises PolicyRefused."""
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise PolicyRefused(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    without = table.get("without", {})
    if not isinstance(without, Mapping) or not all(_is_reason(reason) for reason in without.values()):
        raise PolicyRefused("`without` maps a rule to the reason why it is left out")
    return Policy(
        ruleset=str(table.get("ruleset", LATEST)),
        category=_category(table.get("category", DEFAULT_CATEGORY.value)),
        also=tuple(_category(name) for name in _list(table, "also")),
        without=MappingProxyType(dict(without)),
        waivers=tuple(_waiver(each) for each in _list(table, "waivers")),
        terms=_terms(table),
    )


def _category(name: Any) -> Category:
    try:
        return Category(str(name).upper())
    except ValueError:
        known = ", ".join([*(each.value for each in LADDER), Category.CODE.value])
        raise PolicyRefused(f"unknown category {name!r}; known: {known}") from None


def _waiver(table: Any) -> Waiver:
    if not isinstance(table, Mapping) or not _is_reason(table.get("reason")) or not isinstance(table.get("rule"), str):
        raise PolicyRefused("a waiver has a `rule` and a `reason`, and may have a `tool` and a `pointer`")
    unknown = sorted(set(table) - {"rule", "reason", "tool", "pointer"})
    if unknown:
        raise PolicyRefused(f"unknown key {unknown[0]!r} in a waiver")
    return Waiver(**{name: str(value) for name, value in table.items()})


def _terms(table: Mapping[str, Any]) -> Terms:
    caps = table.get("caps", {})
    if not isinstance(caps, Mapping) or not all(isinstance(value, int | float) for value in caps.values()):
        raise PolicyRefused("`caps` maps `property.keyword` to a number")
    bounds = {name: table[name] for name in ("page_cap", "query_cap") if name in table}
    if not all(isinstance(value, int) and value > 0 for value in bounds.values()):
        raise PolicyRefused("`page_cap` and `query_cap` are whole numbers above 0")
    return Terms(**bounds, null_cursor=frozenset(map(str, _list(table, "null_cursor"))), caps=MappingProxyType(dict(caps)))


def _list(table: Mapping[str, Any], name: str) -> list[Any]:
    value = table.get(name, [])
    if not isinstance(value, list):
        raise PolicyRefused(f"`{name}` is a list")
    return value


def _is_reason(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
