"""Rulesets: which rules belong to which category, by version. A ruleset that was published never changes again.

Upgrading strictwire never changes a verdict under an old ruleset: a new or better rule joins the next ruleset. A test holds
the digest of each published one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.canon.digest import digest
from strictwire.check.rule import Category

LADDER: Final = (Category.MINIMAL, Category.BASIC, Category.STANDARD, Category.STRICT)
"""Each includes those before it."""

DEFAULT_CATEGORY: Final = Category.STANDARD


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """The members of each category, without those of the categories below it, and of the breaking check."""

    version: str
    lint: Mapping[Category, tuple[str, ...]]
    breaking: tuple[str, ...]

    def rules_up_to(self, category: Category) -> tuple[str, ...]:
        """The rules of a category and of those it includes."""
        chosen = LADDER[: LADDER.index(category) + 1] if category in LADDER else (category,)
        return tuple(rule for each in chosen for rule in self.lint[each])

    def digest(self) -> str:
        """What the test holds."""
        members = {category.value: list(rules) for category, rules in self.lint.items()}
        return digest({"version": self.version, "lint": members, "breaking": list(self.breaking)})
