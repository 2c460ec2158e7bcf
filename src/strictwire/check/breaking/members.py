"""Breaking rules about declared properties: none disappears, and none is renamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from strictwire.check.breaking.confirm import Confirmer
from strictwire.check.breaking.explain import Claim, SchemaPair, members
from strictwire.check.breaking.pair import Comparison, ToolPair
from strictwire.check.breaking.renames import find_renamed_properties
from strictwire.check.finding import Impact
from strictwire.check.inclusion.decide import Compared
from strictwire.check.inclusion.shape import Reading, UnsupportedSchema, canonical_text
from strictwire.check.rule import Category, Rule, Scope, Semantics
from strictwire.check.subject import Problem, Side
from strictwire.contract.schema import SchemaRefused


class Removal(NamedTuple):
    """A declared property that is gone. `renamed_to` is empty if nothing new looks like it."""

    claim: Claim
    renamed_to: str


def find_removals(comparison: Comparison) -> Iterator[Removal]:
    """The properties that the new version no longer declares, each with a value that has one."""
    renamed = {pair.path: find_renamed_properties(_properties(pair.old), _properties(pair.new)) for pair in comparison.pairs}
    for claim in _removed(comparison):
        yield Removal(claim, renamed.get(claim.path, {}).get(claim.name, ""))


def _properties(schema: dict[str, object]) -> dict[str, object]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _removed(comparison: Comparison) -> Iterator[Claim]:
    if comparison.side is Side.INPUT:
        yield from (claim for claim in comparison.claims if claim.kind == members.__name__)
        return
    if comparison.semantics is Semantics.EXACT or comparison.old is None or comparison.new is None:
        return
    # A result without an optional property is a valid old result, so inclusion does not show the removal. What shows it
    # is an old result that has the property.
    pairs = [SchemaPair(*pair, closed=True) for pair in comparison.pairs]
    candidates = [(schemas, each) for schemas in pairs for each in members(schemas)]
    try:
        old, new = (Compared(schema=each, reading=Reading.DECLARED) for each in (comparison.old, comparison.new))
        confirmer = Confirmer(old, new) if candidates else None
    except (SchemaRefused, UnsupportedSchema):
        return
    for schemas, difference in candidates if confirmer else ():
        claim = confirmer.confirm(members.__name__, schemas, difference) if confirmer else None
        if claim is not None:
            yield claim


_NOUNS: Final = {Side.INPUT: "argument", Side.OUTPUT: "property"}


def _kept(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        for claim, renamed_to in find_removals(pair.comparison(side)):
            if not renamed_to:
                yield _problem(pair, side, claim, f"the {_NOUNS[side]} {_full(claim)!r} was removed")

    return check


def _not_renamed(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        for claim, renamed_to in find_removals(pair.comparison(side)):
            if renamed_to:
                text = f"the {_NOUNS[side]} {_full(claim)!r} is gone and {renamed_to!r} with an equal schema is new: renamed"
                yield _problem(pair, side, claim, text)

    return check


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
