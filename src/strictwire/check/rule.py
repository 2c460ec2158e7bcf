"""A rule is a record and one function.

The record says what the rule checks and how to fix a finding; the function yields a Problem for each violation. Ids are
never reused, and a rule in a published ruleset never finds more or less than before: a better rule gets a new id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from strictwire.check.finding import Impact
from strictwire.check.subject import Problem, Side


class Category(StrEnum):
    """How strict a check is. Each of the first four categories includes the ones before it."""

    MINIMAL = "MINIMAL"
    """A tool that breaks one of these rules cannot be used, or is not safe to use."""
    BASIC = "BASIC"
    """A tool that breaks one of these rules misleads people, models or programs."""
    STANDARD = "STANDARD"
    """Rules that make a tool work with every major client. The default."""
    STRICT = "STRICT"
    """Rules for reviewed contracts: closed objects, bounded values, explicit members, schemas in files."""
    CODE = "CODE"
    """Conventions of read-only code tools; not included in the other categories."""
    CORRECT = "CORRECT"
    """Certainly wrong, or refused by a major client. The default from ruleset 2026.12 on."""
    CLIENTS = "CLIENTS"
    """What each client refuses."""
    AGENTS = "AGENTS"
    """What makes tools hard to use for a model: missing descriptions, cost, tools that look alike."""
    SECURITY = "SECURITY"
    """Hidden text, directives to the model, secrets, spoofed names."""
    SEED = "SEED"
    """Conventions for reviewed contracts, docs/SCHEMA.md: the rules of STRICT that are about conventions."""


class Semantics(StrEnum):
    """The question that `breaking` answers."""

    DECLARED = "declared"
    """Do the declared properties stay? Callers send declared arguments; readers ignore properties that they do not know."""
    EXACT = "exact"
    """Is one set of JSON values a subset of the other? Undeclared properties of open objects count."""


class Scope(StrEnum):
    """The argument that the engine passes to a rule's function."""

    SET = "set"
    """All tools of a source (ToolSet)."""
    TOOL = "tool"
    """One tool (Subject)."""
    TEXT = "text"
    """One title, description or comment (ToolText)."""
    INVALID_SCHEMA = "invalid_schema"
    """A schema that does not compile (InvalidSchema)."""
    NODE = "node"
    """One subschema (Node)."""
    PAIR = "pair"
    """Two versions of one tool (ToolPair)."""
    CHANGE = "change"
    """The difference to a git commit (Change). Runs only if the user names a commit."""
    SOURCE = "source"
    """Never called: `sources` reports these findings while reading."""


Check: TypeAlias = Callable[..., Iterable[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """The record of a rule. Compared by identity: each rule has exactly one record."""

    id: str
    purpose: str
    """One sentence, «Checks that …»."""
    advice: str
    """What to do about a finding."""
    category: Category
    scope: Scope
    check: Check
    keywords: tuple[str, ...] = ()
    """For NODE rules: run on nodes that have at least one of these keywords. Empty: on every node."""
    side: Side | None = None
    """For NODE rules: run on input or on output schemas. None: on both."""
    property_names: frozenset[str] = frozenset()
    """For NODE rules: run on properties with these names. Empty: on every node."""
    runs_on_invalid: bool = False
    """For TOOL rules: whether the rule may run on a tool whose schemas are invalid."""
    impact: Impact | None = None
    """For PAIR rules: who is affected."""
    bad: str = ""
    """Example with a finding, for docs/RULES.md."""
    good: str = ""
    """Example without a finding."""

    def applies_to(self, keywords: Iterable[str], name: str, side: Side) -> bool:
        """Whether the rule runs on nodes with these keywords, this property name and this side."""
        is_here = self.side in (None, side) and (not self.property_names or name in self.property_names)
        return is_here and (not self.keywords or any(keyword in self.keywords for keyword in keywords))


def rule(**record: Any) -> Callable[[Check], Rule]:
    """Decorator: turn a function into a Rule. The keyword arguments are the fields of `Rule`."""

    def make(check: Check) -> Rule:
        return Rule(check=check, **record)

    return make
