"""Breaking rules about schemas. Inputs may only accept more, outputs may only promise more.

Each explanation gives two rules, one for each side; the verdict behind them is one decision about the whole schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from strictwire.check.breaking.explain import (
    EXPLANATIONS,
    Cause,
    bounds,
    listed,
    members,
    patterns,
    required,
    types,
)
from strictwire.check.breaking.pair import Pair, Step
from strictwire.check.finding import Hurt
from strictwire.check.inclusion.decide import Included, NotIncluded, Undecided
from strictwire.check.inclusion.shape import text_of
from strictwire.check.rule import Category, Rule, Scope
from strictwire.check.subject import Problem, Side

Explain = Callable[[Step], Iterator[Cause]]

_SENTENCES: Final = {
    Side.INPUT: "the new input refuses {}, which the old one accepts",
    Side.OUTPUT: "the new output allows {}, which the old one excludes",
}
_ADVICE: Final = {
    Side.INPUT: "Keep accepting what callers send today, or publish the change as a new tool.",
    Side.OUTPUT: "Keep the promise callers rely on, or publish the change as a new tool.",
}


def _explaining(side: Side, explain: Explain) -> Callable[[Pair], Iterator[Problem]]:
    def check(pair: Pair) -> Iterator[Problem]:
        for step in pair.comparison(side).steps():
            for cause in explain(step):
                yield pair.problem(side, cause.pointer, _SENTENCES[side].format(cause.what))

    return check


def _whole(side: Side) -> Callable[[Pair], Iterator[Problem]]:
    """The difference that no explanation finds: a witness shows it."""

    def check(pair: Pair) -> Iterator[Problem]:
        comparison = pair.comparison(side)
        if not isinstance(comparison.verdict, NotIncluded):
            return
        if any(True for step in comparison.steps() for explain in EXPLANATIONS for _ in explain(step)):
            return
        at = "/".join(comparison.verdict.path) or "the root"
        yield pair.problem(side, "", _SENTENCES[side].format(f"a value that differs at {at}"))

    return check


def _undecided(side: Side) -> Callable[[Pair], Iterator[Problem]]:
    def check(pair: Pair) -> Iterator[Problem]:
        verdict = pair.comparison(side).verdict
        if isinstance(verdict, Undecided):
            at = "/".join(verdict.path) or "the root"
            message = f"whether the {side.value} schemas are compatible cannot be decided at {at}: {verdict.reason}"
            yield pair.problem(side, "", message)

    return check


def _changed(side: Side) -> Callable[[Pair], Iterator[Problem]]:
    def check(pair: Pair) -> Iterator[Problem]:
        found = pair.comparison(side)
        if isinstance(found.verdict, Included) and text_of(found.old) != text_of(found.new):
            yield pair.problem(side, "", f"the {side.value} schema changed in a way that hurts nobody")

    return check


def _rule(id_: str, side: Side, purpose: str, check: Callable[[Pair], Iterator[Problem]], **more: str) -> Rule:
    hurts = Hurt.NOBODY if id_.endswith("_COMPATIBLE") else Hurt.CALLER
    return Rule(
        id=id_,
        purpose=purpose,
        advice=more.get("advice", _ADVICE[side]),
        category=Category.BASIC,
        scope=Scope.PAIR,
        check=check,
        hurts=hurts,
        bad=more.get("bad", ""),
        good=more.get("good", ""),
    )


_IN, _OUT = Side.INPUT, Side.OUTPUT

RULES: Final[tuple[Rule, ...]] = (
    _rule("INPUT_TYPE_KEPT", _IN, "Checks that an input takes every type it took.", _explaining(_IN, types),
          bad='{"type": ["string", "null"]} → {"type": "string"}', good='{"type": "integer"} → {"type": "number"}'),
    _rule("INPUT_VALUES_KEPT", _IN, "Checks that an input takes every listed value it took.", _explaining(_IN, listed),
          bad='{"enum": ["a", "b"]} → {"enum": ["a"]}', good='{"enum": ["a"]} → {"enum": ["a", "b"]}'),
    _rule("INPUT_BOUNDS_KEPT", _IN, "Checks that no bound of an input is tightened.", _explaining(_IN, bounds),
          bad='{"maximum": 200} → {"maximum": 100}', good='{"maximum": 100} → {"maximum": 200}'),
    _rule("INPUT_OPTIONAL_KEPT", _IN, "Checks that no argument becomes required.", _explaining(_IN, required),
          bad='{"required": []} → {"required": ["a"]}', good='{"required": ["a"]} → {"required": []}'),
    _rule("INPUT_MEMBERS_KEPT", _IN, "Checks that a closed input still knows every argument it knew.",
          _explaining(_IN, members),
          bad='{"properties": {"a": {}, "b": {}}, "additionalProperties": false} → the same without "b"',
          good='{"properties": {"a": {}}} → {"properties": {"a": {}, "b": {}}}'),
    _rule("INPUT_PATTERNS_KEPT", _IN, "Checks that no pattern or format of an input is added or changed.",
          _explaining(_IN, patterns),
          bad='{"pattern": "^a"} → {"pattern": "^b"}', good='{"pattern": "^a"} → {}'),
    _rule("INPUT_ACCEPTS_AS_BEFORE", _IN, "Checks that an input accepts every value it accepted; a witness shows one.",
          _whole(_IN), bad='{"not": {"required": ["a"]}} added', good="the same schema written in another way"),
    _rule("INPUT_DECIDED", _IN, "Checks that the compatibility of inputs can be decided; what cannot is not safe.",
          _undecided(_IN), bad='{"pattern": "^a"} → {"pattern": "^a|^b"}', good='{"minLength": 2} → {"minLength": 1}',
          advice="Compare the two schemas by hand, and waive the finding with what you found."),
    _rule("OUTPUT_TYPE_KEPT", _OUT, "Checks that an output has no type that was excluded.", _explaining(_OUT, types),
          bad='{"type": "string"} → {"type": ["string", "null"]}', good='{"type": "number"} → {"type": "integer"}'),
    _rule("OUTPUT_VALUES_KEPT", _OUT, "Checks that an output has no value that was not listed.",
          _explaining(_OUT, listed),
          bad='{"enum": ["a"]} → {"enum": ["a", "b"]}', good='{"enum": ["a", "b"]} → {"enum": ["a"]}'),
    _rule("OUTPUT_BOUNDS_KEPT", _OUT, "Checks that no bound of an output is loosened.", _explaining(_OUT, bounds),
          bad='{"maxItems": 100} → {"maxItems": 200}', good='{"maxItems": 200} → {"maxItems": 100}'),
    _rule("OUTPUT_REQUIRED_KEPT", _OUT, "Checks that every promised member of an output stays promised.",
          _explaining(_OUT, required),
          bad='{"required": ["a"]} → {"required": []}', good='{"required": []} → {"required": ["a"]}'),
    _rule("OUTPUT_MEMBERS_KEPT", _OUT, "Checks that a closed output gets no new member.", _explaining(_OUT, members),
          bad='a new property in an output with "additionalProperties": false', good="a new property in an open output"),
    _rule("OUTPUT_PATTERNS_KEPT", _OUT, "Checks that no pattern or format of an output is dropped or changed.",
          _explaining(_OUT, patterns),
          bad='{"pattern": "^sha256:"} → {}', good='{} → {"pattern": "^sha256:"}'),
    _rule("OUTPUT_GIVES_AS_BEFORE", _OUT, "Checks that an output gives only values it promised; a witness shows one.",
          _whole(_OUT), bad='{"not": {"required": ["a"]}} dropped', good="the same schema written in another way"),
    _rule("OUTPUT_DECIDED", _OUT, "Checks that the compatibility of outputs can be decided; what cannot is not safe.",
          _undecided(_OUT), bad='{"pattern": "^a|^b"} → {"pattern": "^a"}', good='{"minLength": 1} → {"minLength": 2}',
          advice="Compare the two schemas by hand, and waive the finding with what you found."),
    _rule("INPUT_COMPATIBLE", _IN, "Notes an input schema that changed and hurts nobody.", _changed(_IN),
          advice="Nothing; pin the new contract.", bad="a new optional argument", good="no change"),
    _rule("OUTPUT_COMPATIBLE", _OUT, "Notes an output schema that changed and hurts nobody.", _changed(_OUT),
          advice="Nothing; pin the new contract.", bad="a newly promised member", good="no change"),
)  # fmt: skip
