"""Breaking rules about declared properties: none disappears, and none is renamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from strictwire.check.breaking.explain import Claim
from strictwire.check.breaking.pair import ToolPair
from strictwire.check.finding import Impact
from strictwire.check.inclusion.shape import canonical_text
from strictwire.check.rule import Category, Rule, Scope
from strictwire.check.subject import Problem, Side

_NOUNS: Final = {Side.INPUT: "argument", Side.OUTPUT: "property"}


def _kept(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        for claim, renamed_to in pair.comparison(side).removals:
            if not renamed_to:
                yield _problem(pair, side, claim, f"the {_NOUNS[side]} {_full(claim)!r} was removed")

    return check


def _not_renamed(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        for claim, renamed_to in pair.comparison(side).removals:
            if renamed_to:
                text = f"the {_NOUNS[side]} {_full(claim)!r} is gone and {renamed_to!r} with an equal schema is new: renamed"
                yield _problem(pair, side, claim, text)._replace(new=_renamed(claim, renamed_to))

    return check


def _renamed(claim: Claim, name: str) -> str:
    """The excerpt of the new schema: that of the old one, which begins with the name, under the new name."""
    return claim.source.replace(canonical_text(claim.name), canonical_text(name), 1)


def _full(claim: Claim) -> str:
    return ".".join((*claim.path, claim.name))


def _problem(pair: ToolPair, side: Side, claim: Claim, message: str) -> Problem:
    return pair.problem(side, claim.pointer, message, witness=canonical_text(claim.witness), old=claim.source)


def _rule(id_: str, side: Side, purpose: str, check: Callable[[ToolPair], Iterator[Problem]], **more: str) -> Rule:
    return Rule(
        id=id_,
        purpose=purpose,
        advice=more["advice"],
        category=Category.BASIC,
        scope=Scope.PAIR,
        check=check,
        impact=Impact.CALLER if side is Side.INPUT else Impact.READER,
        bad=more["bad"],
        good=more["good"],
    )


RULES: Final[tuple[Rule, ...]] = (
    _rule("ARGUMENT_KEPT", Side.INPUT, "Checks that every declared argument stays declared.", _kept(Side.INPUT),
          advice="Keep the argument, ignore it, and say so in its description; or publish a new tool.",
          bad='{"properties": {"a": {}, "b": {}}} → {"properties": {"a": {}}}',
          good='{"properties": {"a": {}}} → {"properties": {"a": {}, "b": {}}}'),
    _rule("ARGUMENT_NAME_KEPT", Side.INPUT, "Checks that no argument is renamed.", _not_renamed(Side.INPUT),
          advice="Accept the old name beside the new one for as long as callers use it.",
          bad='{"properties": {"path": {}}} → {"properties": {"file_path": {}}}',
          good='{"properties": {"path": {}}} → {"properties": {"path": {}, "file_path": {}}}'),
    _rule("RESULT_KEPT", Side.OUTPUT, "Checks that every declared property of a result stays declared.", _kept(Side.OUTPUT),
          advice="Keep the property: readers written for the old contract look for it.",
          bad='{"properties": {"a": {}, "b": {}}} → {"properties": {"a": {}}}',
          good='{"properties": {"a": {}}} → {"properties": {"a": {}, "b": {}}}'),
    _rule("RESULT_NAME_KEPT", Side.OUTPUT, "Checks that no property of a result is renamed.", _not_renamed(Side.OUTPUT),
          advice="Return the old name beside the new one for as long as readers use it.",
          bad='{"properties": {"total": {}}} → {"properties": {"total_count": {}}}',
          good='{"properties": {"total": {}}} → {"properties": {"total": {}, "total_count": {}}}'),
)  # fmt: skip
