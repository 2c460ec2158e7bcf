"""Breaking rules about schemas: an input may only accept more, an output may only promise more.

Each explanation gives two rules, one per side. All of them rely on one inclusion result for the whole schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from strictwire.canon.json import render
from strictwire.check.breaking.explain import (
    Claim,
    Difference,
    SchemaPair,
    bounds,
    listed,
    members,
    patterns,
    required,
    types,
    undeclared,
)
from strictwire.check.breaking.pair import Comparison, ToolPair
from strictwire.check.finding import Impact
from strictwire.check.inclusion.decide import Included, NotIncluded, Undecided
from strictwire.check.inclusion.shape import canonical_schema, canonical_text
from strictwire.check.rule import Category, Rule, Scope, Semantics
from strictwire.check.subject import Problem, Side
from strictwire.contract.subschemas import map_subschemas

Explain = Callable[[SchemaPair], Iterator[Difference]]

_SENTENCES: Final = {
    Side.INPUT: "the new input schema rejects {}, which the old one accepts",
    Side.OUTPUT: "the new output schema allows {}, which the old one excludes",
}
_ADVICE: Final = {
    Side.INPUT: "Keep accepting what callers send today, or publish a new tool.",
    Side.OUTPUT: "Keep the promise that callers rely on, or publish a new tool.",
}


def _claimed_by(side: Side, *kinds: Explain) -> Callable[[ToolPair], Iterator[Problem]]:
    """The confirmed differences of some kinds."""
    names = {kind.__name__ for kind in kinds}

    def check(pair: ToolPair) -> Iterator[Problem]:
        comparison = pair.comparison(side)
        for claim in comparison.claims:
            if claim.kind in names and not _is_part_of_a_removal(comparison, claim):
                yield _problem(pair, side, claim)

    return check


def _problem(pair: ToolPair, side: Side, claim: Claim) -> Problem:
    before, after = (claim.source, claim.target) if side is Side.INPUT else (claim.target, claim.source)
    message = _SENTENCES[side].format(claim.what)
    return pair.problem(side, claim.pointer, message, witness=canonical_text(claim.witness), old=before, new=after)


def _is_part_of_a_removal(comparison: Comparison, claim: Claim) -> bool:
    """Whether a removed or renamed property already says what the claim says about `required`."""
    if claim.kind != required.__name__ or comparison.semantics is Semantics.EXACT:
        return False
    removals = [each for each in comparison.removals if each.claim.path == claim.path]
    if comparison.side is Side.INPUT:
        return claim.name in [each.renamed_to for each in removals]
    return claim.name in [each.claim.name for each in removals]


def _whole(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    """A difference that no explanation covers; the witness shows it."""

    def check(pair: ToolPair) -> Iterator[Problem]:
        comparison = pair.comparison(side)
        result = comparison.result
        if isinstance(result, NotIncluded) and not comparison.claims:
            at = "/".join(result.path) or "the root"
            message = _SENTENCES[side].format(f"a value that differs at {at}")
            yield pair.problem(side, "", message, witness=canonical_text(result.witness))

    return check


def _undecided(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        result = pair.comparison(side).result
        if isinstance(result, Undecided):
            at = "/".join(result.path) or "the root"
            message = f"cannot decide whether the {side.value} schemas are compatible at {at}: {result.reason}"
            yield pair.problem(side, "", message)

    return check


def _changed(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        found = pair.comparison(side)
        # A change of defaults alone has a rule of its own.
        if isinstance(found.result, Included) and not found.is_unchanged and not _differs_in_defaults_only(found):
            yield pair.problem(side, "", f"the {side.value} schema changed and stays compatible{_added(found)}")

    return check


def _differs_in_defaults_only(comparison: Comparison) -> bool:
    versions = comparison.old, comparison.new
    if not any(b'"default":' in render(each) for each in versions):
        return False
    old, new = (canonical_schema(_dropping_defaults(each)) for each in versions)
    return old == new


def _dropping_defaults(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = ((keyword, value) for keyword, value in schema.items() if keyword != "default")
    return {keyword: map_subschemas(keyword, value, _dropping_defaults) for keyword, value in kept}


def _added(comparison: Comparison) -> str:
    names = [
        ".".join((*pair.path, name))
        for pair in comparison.pairs
        for name in pair.new.get("properties", {})
        if name not in pair.old.get("properties", {})
    ]
    return f"; new: {', '.join(names)}" if names else ""


def _rule(id_: str, side: Side, purpose: str, check: Callable[[ToolPair], Iterator[Problem]], **more: str) -> Rule:
    broken = Impact.CALLER if side is Side.INPUT else Impact.READER
    return Rule(
        id=id_,
        purpose=purpose,
        advice=more.get("advice", _ADVICE[side]),
        category=Category.BASIC,
        scope=Scope.PAIR,
        check=check,
        impact=Impact.ADDITIVE if id_.endswith("_COMPATIBLE") else broken,
        bad=more.get("bad", ""),
        good=more.get("good", ""),
    )


_IN, _OUT = Side.INPUT, Side.OUTPUT

RULES: Final[tuple[Rule, ...]] = (
    _rule("INPUT_TYPE_KEPT", _IN, "Checks that an input accepts every type it accepted.", _claimed_by(_IN, types),
          bad='{"type": ["string", "null"]} → {"type": "string"}', good='{"type": "integer"} → {"type": "number"}'),
    _rule("INPUT_VALUES_KEPT", _IN, "Checks that an input accepts every enum value it accepted.", _claimed_by(_IN, listed),
          bad='{"enum": ["a", "b"]} → {"enum": ["a"]}', good='{"enum": ["a"]} → {"enum": ["a", "b"]}'),
    _rule("INPUT_BOUNDS_KEPT", _IN, "Checks that no bound of an input becomes tighter.", _claimed_by(_IN, bounds),
          bad='{"maximum": 200} → {"maximum": 100}', good='{"maximum": 100} → {"maximum": 200}'),
    _rule("INPUT_OPTIONAL_KEPT", _IN, "Checks that no argument becomes required.", _claimed_by(_IN, required),
          bad='{"required": []} → {"required": ["a"]}', good='{"required": ["a"]} → {"required": []}'),
    _rule("INPUT_MEMBERS_KEPT", _IN, "Checks that a closed input keeps every argument.",
          _claimed_by(_IN, members, undeclared),
          bad='{"properties": {"a": {}, "b": {}}, "additionalProperties": false} → the same without "b"',
          good='{"properties": {"a": {}}} → {"properties": {"a": {}, "b": {}}}'),
    _rule("INPUT_OPEN_KEPT", _IN, "Checks that an input that accepts properties of any name goes on accepting them.",
          _claimed_by(_IN, undeclared),
          bad='"additionalProperties": false added', good='"additionalProperties": false removed'),
    _rule("INPUT_PATTERNS_KEPT", _IN, "Checks that no pattern or format of an input is added or changed.",
          _claimed_by(_IN, patterns),
          bad='{"pattern": "^a"} → {"pattern": "^b"}', good='{"pattern": "^a"} → {}'),
    _rule("INPUT_ACCEPTS_AS_BEFORE", _IN, "Checks that an input accepts every value it accepted (see the witness).",
          _whole(_IN), bad='{"not": {"required": ["a"]}} added', good="the same schema written in another way"),
    _rule("INPUT_DECIDED", _IN, "Checks that the compatibility of inputs can be decided; undecided means not safe.",
          _undecided(_IN), bad='{"pattern": "(?=a)"} → {"pattern": "(?=a|b)"}', good='{"minLength": 2} → {"minLength": 1}',
          advice="Compare the two schemas manually, and waive the finding with the result as its reason."),
    _rule("OUTPUT_TYPE_KEPT", _OUT, "Checks that an output gets no type that was excluded.", _claimed_by(_OUT, types),
          bad='{"type": "string"} → {"type": ["string", "null"]}', good='{"type": "number"} → {"type": "integer"}'),
    _rule("OUTPUT_VALUES_KEPT", _OUT, "Checks that an output gets no new enum value.",
          _claimed_by(_OUT, listed),
          bad='{"enum": ["a"]} → {"enum": ["a", "b"]}', good='{"enum": ["a", "b"]} → {"enum": ["a"]}'),
    _rule("OUTPUT_BOUNDS_KEPT", _OUT, "Checks that no bound of an output becomes looser.", _claimed_by(_OUT, bounds),
          bad='{"maxItems": 100} → {"maxItems": 200}', good='{"maxItems": 200} → {"maxItems": 100}'),
    _rule("OUTPUT_REQUIRED_KEPT", _OUT, "Checks that every required property of an output stays required.",
          _claimed_by(_OUT, required),
          bad='{"required": ["a"]} → {"required": []}', good='{"required": []} → {"required": ["a"]}'),
    _rule("OUTPUT_MEMBERS_KEPT", _OUT, "Checks that a closed output gets no new property.",
          _claimed_by(_OUT, members, undeclared),
          bad='a new property in an output with "additionalProperties": false', good="a new property in an open output"),
    _rule("OUTPUT_PATTERNS_KEPT", _OUT, "Checks that no pattern or format of an output is removed or changed.",
          _claimed_by(_OUT, patterns),
          bad='{"pattern": "^sha256:"} → {}', good='{} → {"pattern": "^sha256:"}'),
    _rule("OUTPUT_GIVES_AS_BEFORE", _OUT, "Checks that an output allows only values that were allowed (see the witness).",
          _whole(_OUT), bad='{"not": {"required": ["a"]}} dropped', good="the same schema written in another way"),
    _rule("OUTPUT_DECIDED", _OUT, "Checks that the compatibility of outputs can be decided; undecided means not safe.",
          _undecided(_OUT), bad='{"pattern": "(?=a|b)"} → {"pattern": "(?=a)"}', good='{"minLength": 1} → {"minLength": 2}',
          advice="Compare the two schemas manually, and waive the finding with the result as its reason."),
    _rule("INPUT_COMPATIBLE", _IN, "Reports an input schema that changed and stays compatible.", _changed(_IN),
          advice="Pin the new contract.", bad="a new optional argument", good="no change"),
    _rule("OUTPUT_COMPATIBLE", _OUT, "Reports an output schema that changed and stays compatible.", _changed(_OUT),
          advice="Pin the new contract.", bad="a newly required property", good="no change"),
)  # fmt: skip
