"""A rule is a record and one function.

The record says what stays true and how to mend it; the function yields a Problem for each place where it does not. Ids
are never reused, and what a rule finds never changes inside a frozen ruleset: a better rule is a new rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from strictwire.check.finding import Hurt
from strictwire.check.subject import Problem, Side


class Category(StrEnum):
    """How much is asked. Each of the first four includes those before it."""

    MINIMAL = "MINIMAL"
    """Without it a client cannot use the tool, or must not."""
    BASIC = "BASIC"
    """Without it the tool misleads: people, models or programs."""
    STANDARD = "STANDARD"
    """What works with every large client. The default."""
    STRICT = "STRICT"
    """Reviewed contracts: closed, bounded, explicit, in files."""
    CODE = "CODE"
    """The conventions of the read-only code tools; not part of the ladder."""


class Scope(StrEnum):
    """What the function is called with."""

    SET = "set"
    TOOL = "tool"
    TEXT = "text"
    REFUSED = "refused"
    """A schema that cannot be compiled."""
    NODE = "node"
    PAIR = "pair"
    CHANGE = "change"
    """What differs from a commit; asked only where a commit is named."""
    SOURCE = "source"
    """Nothing: sources report these while reading."""


Check: TypeAlias = Callable[..., Iterable[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """See the module. Compared by identity: there is one record of each rule."""

    id: str
    purpose: str
    """One sentence, «Checks that …»."""
    advice: str
    """What to do about a finding."""
    category: Category
    scope: Scope
    check: Check
    on: tuple[str, ...] = ()
    """For nodes: the keywords of which one must be present. Empty: every node."""
    side: Side | None = None
    """For nodes: the schemas it is about. None: both."""
    names: frozenset[str] = frozenset()
    """For nodes: the property names it is about. Empty: every name."""
    robust: bool = False
    """For tools: whether it may be asked about a tool whose schemas are not valid."""
    hurts: Hurt | None = None
    bad: str = ""
    good: str = ""

    def asks_about(self, keywords: Iterable[str], name: str, side: Side) -> bool:
        """Whether the rule is about nodes with these keywords, of that name, on that side."""
        is_here = self.side in (None, side) and (not self.names or name in self.names)
        return is_here and (not self.on or any(keyword in self.on for keyword in keywords))


def rule(**record: Any) -> Callable[[Check], Rule]:
    """Make the decorated function a rule. The fields are those of `Rule`."""

    def make(check: Check) -> Rule:
        return Rule(check=check, **record)

    return make
