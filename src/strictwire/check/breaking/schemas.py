"""Breaking rules about schemas: an input may only accept more, an output may only promise more.

Each explanation gives two rules, one per side. All of them rely on one inclusion result for the whole schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from strictwire.check.breaking.explain import (
    EXPLANATIONS,
    Difference,
    bounds,
    listed,
    members,
    patterns,
    required,
    types,
)
from strictwire.check.breaking.pair import SchemaPair, ToolPair
from strictwire.check.finding import Impact
from strictwire.check.inclusion.decide import Included, NotIncluded, Undecided
from strictwire.check.inclusion.shape import canonical_schema
from strictwire.check.rule import Category, Rule, Scope
from strictwire.check.subject import Problem, Side

Explain = Callable[[SchemaPair], Iterator[Difference]]

_SENTENCES: Final = {
    Side.INPUT: "the new input schema rejects {}, which the old one accepts",
    Side.OUTPUT: "the new output schema allows {}, which the old one excludes",
}
_ADVICE: Final = {
    Side.INPUT: "Keep accepting what callers send today, or publish a new tool.",
    Side.OUTPUT: "Keep the promise that callers rely on, or publish a new tool.",
}


def _explained_by(side: Side, explain: Explain) -> Callable[[ToolPair], Iterator[Problem]]:
    def check(pair: ToolPair) -> Iterator[Problem]:
        for schemas in pair.comparison(side).schema_pairs():
            for cause in explain(schemas):
                yield pair.problem(side, cause.pointer, _SENTENCES[side].format(cause.what))

    return check


def _whole(side: Side) -> Callable[[ToolPair], Iterator[Problem]]:
    """A difference that no explanation covers; the witness shows it."""

    def check(pair: ToolPair) -> Iterator[Problem]:
        comparison = pair.comparison(side)
        if not isinstance(comparison.result, NotIncluded):
            return
        if any(True for schemas in comparison.schema_pairs() for explain in EXPLANATIONS for _ in explain(schemas)):
            return
        at = "/".join(comparison.result.path) or "the root"
        yield pair.problem(side, "", _SENTENCES[side].format(f"a value that differs at {at}"))

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
        if isinstance(found.result, Included) and canonical_schema(found.old) != canonical_schema(found.new):
            yield pair.problem(side, "", f"the {side.value} schema changed and stays compatible")

    return check


def _rule(id_: str, side: Side, purpose: str, check: Callable[[ToolPair], Iterator[Problem]], **more: str) -> Rule:
    impact = Impact.NONE if id_.endswith("_COMPATIBLE") else Impact.CALLER
    return Rule(
        id=id_,
        purpose=purpose,
        advice=more.get("advice", _ADVICE[side]),
        category=Category.BASIC,
        scope=Scope.PAIR,
        check=check,
        impact=impact,
        bad=more.get("bad", ""),
        good=more.get("good", ""),
    )


_IN, _OUT = Side.INPUT, Side.OUTPUT

RULES: Final[tuple[Rule, ...]] = (
    _rule("INPUT_TYPE_KEPT", _IN, "Checks that an input accepts every type it accepted.", _explained_by(_IN, types),
          bad='{"type": ["string", "null"]} → {"type": "string"}', good='{"type": "integer"} → {"type": "number"}'),
    _rule("INPUT_VALUES_KEPT", _IN, "Checks that an input accepts every enum value it accepted.", _explained_by(_IN, listed),
          bad='{"enum": ["a", "b"]} → {"enum": ["a"]}', good='{"enum": ["a"]} → {"enum": ["a", "b"]}'),
    _rule("INPUT_BOUNDS_KEPT", _IN, "Checks that no bound of an input becomes tighter.", _explained_by(_IN, bounds),
          bad='{"maximum": 200} → {"maximum": 100}', good='{"maximum": 100} → {"maximum": 200}'),
    _rule("INPUT_OPTIONAL_KEPT", _IN, "Checks that no argument becomes required.", _explained_by(_IN, required),
          bad='{"required": []} → {"required": ["a"]}', good='{"required": ["a"]} → {"required": []}'),
    _rule("INPUT_MEMBERS_KEPT", _IN, "Checks that a closed input keeps every argument.",
          _explained_by(_IN, members),
          bad='{"properties": {"a": {}, "b": {}}, "additionalProperties": false} → the same without "b"',
          good='{"properties": {"a": {}}} → {"properties": {"a": {}, "b": {}}}'),
    _rule("INPUT_PATTERNS_KEPT", _IN, "Checks that no pattern or format of an input is added or changed.",
          _explained_by(_IN, patterns),
          bad='{"pattern": "^a"} → {"pattern": "^b"}', good='{"pattern": "^a"} → {}'),
    _rule("INPUT_ACCEPTS_AS_BEFORE", _IN, "Checks that an input accepts every value it accepted (see the witness).",
          _whole(_IN), bad='{"not": {"required": ["a"]}} added', good="the same schema written in another way"),
    _rule("INPUT_DECIDED", _IN, "Checks that the compatibility of inputs can be decided; undecided means not safe.",
          _undecided(_IN), bad='{"pattern": "^a"} → {"pattern": "^a|^b"}', good='{"minLength": 2} → {"minLength": 1}',
          advice="Compare the two schemas manually, and waive the finding with the result as its reason."),
    _rule("OUTPUT_TYPE_KEPT", _OUT, "Checks that an output gets no type that was excluded.", _explained_by(_OUT, types),
          bad='{"type": "string"} → {"type": ["string", "null"]}', good='{"type": "number"} → {"type": "integer"}'),
    _rule("OUTPUT_VALUES_KEPT", _OUT, "Checks that an output gets no new enum value.",
          _explained_by(_OUT, listed),
          bad='{"enum": ["a"]} → {"enum": ["a", "b"]}', good='{"enum": ["a", "b"]} → {"enum": ["a"]}'),
    _rule("OUTPUT_BOUNDS_KEPT", _OUT, "Checks that no bound of an output becomes looser.", _explained_by(_OUT, bounds),
          bad='{"maxItems": 100} → {"maxItems": 200}', good='{"maxItems": 200} → {"maxItems": 100}'),
    _rule("OUTPUT_REQUIRED_KEPT", _OUT, "Checks that every required property of an output stays required.",
          _explained_by(_OUT, required),
          bad='{"required": ["a"]} → {"required": []}', good='{"required": []} → {"required": ["a"]}'),
    _rule("OUTPUT_MEMBERS_KEPT", _OUT, "Checks that a closed output gets no new property.", _explained_by(_OUT, members),
          bad='a new property in an output with "additionalProperties": false', good="a new property in an open output"),
    _rule("OUTPUT_PATTERNS_KEPT", _OUT, "Checks that no pattern or format of an output is removed or changed.",
          _explained_by(_OUT, patterns),
          bad='{"pattern": "^sha256:"} → {}', good='{} → {"pattern": "^sha256:"}'),
    _rule("OUTPUT_GIVES_AS_BEFORE", _OUT, "Checks that an output allows only values that were allowed (see the witness).",
          _whole(_OUT), bad='{"not": {"required": ["a"]}} dropped', good="the same schema written in another way"),
    _rule("OUTPUT_DECIDED", _OUT, "Checks that the compatibility of outputs can be decided; undecided means not safe.",
          _undecided(_OUT), bad='{"pattern": "^a|^b"} → {"pattern": "^a"}', good='{"minLength": 1} → {"minLength": 2}',
          advice="Compare the two schemas manually, and waive the finding with the result as its reason."),
    _rule("INPUT_COMPATIBLE", _IN, "Reports an input schema that changed and stays compatible.", _changed(_IN),
          advice="Pin the new contract.", bad="a new optional argument", good="no change"),
    _rule("OUTPUT_COMPATIBLE", _OUT, "Reports an output schema that changed and stays compatible.", _changed(_OUT),
          advice="Pin the new contract.", bad="a newly required property", good="no change"),
)  # fmt: skip
