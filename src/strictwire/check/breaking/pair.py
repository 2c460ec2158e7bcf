"""Two versions of one tool, compared once: the inclusion results and the confirmed differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.breaking.confirm import Confirmer
from strictwire.check.breaking.explain import EXPLANATIONS, Claim, SchemaPair
from strictwire.check.breaking.readers import with_open_objects
from strictwire.check.breaking.removals import Removal, removed_from_results, with_renames
from strictwire.check.breaking.walk import VersionPair, walk_pairs
from strictwire.check.inclusion.decide import Compared, Included, InclusionResult, NotIncluded, decide_pair
from strictwire.check.inclusion.shape import Reading, UnsupportedSchema, canonical_schema, is_same_json
from strictwire.check.rule import Semantics
from strictwire.check.subject import Problem, Side, SourceLocation, Subject


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One side of a tool, old and new. Every value of `source` must be a value of `target`.

    For inputs, `source` is the old schema and `target` the new one: every old argument must still be accepted. For
    outputs, `source` is the new schema and `target` the old one: every new result must keep the old promise.
    """

    side: Side
    old: JsonObject | None
    new: JsonObject | None
    semantics: Semantics
    source: Compared | None = None
    target: Compared | None = None

    @cached_property
    def result(self) -> InclusionResult | None:
        """Whether the change is compatible; None if one of the schemas is absent."""
        if self.source is None or self.target is None:
            return None
        if self.is_unchanged:
            return Included()
        return decide_pair(self.source, self.target, candidates=lambda: (claim.witness for claim in self._confirmed))

    @cached_property
    def is_unchanged(self) -> bool:
        """Whether both versions are equal except for their texts."""
        return is_same_json(self.old, self.new) or canonical_schema(self.old) == canonical_schema(self.new)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The differences that break something, each with a witness of its own; empty if the change is compatible."""
        return self._confirmed if isinstance(self.result, NotIncluded) else ()

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The declared properties that are gone."""
        if self.side is Side.INPUT or self.old is None or self.new is None:
            return with_renames(self.claims, self.pairs)
        if self.semantics is Semantics.EXACT:
            return ()
        return with_renames(tuple(removed_from_results(self.old, self.new, self.pairs)), self.pairs)

    @cached_property
    def pairs(self) -> tuple[VersionPair, ...]:
        """The corresponding subschemas; empty if nothing changed."""
        if self.old is None or self.new is None or self.is_unchanged:
            return ()
        return tuple(walk_pairs(self.old, self.new))

    def confirmer(self) -> Confirmer:
        """Finds witnesses for this comparison. Raises LookupError if one of the schemas is absent."""
        if self.source is None or self.target is None:
            raise LookupError("a schema is absent")
        return Confirmer(self.source, self.target)

    @cached_property
    def _confirmed(self) -> tuple[Claim, ...]:
        try:
            confirmer = self.confirmer()
        except UnsupportedSchema:
            return ()
        candidates = [
            (explain.__name__, schemas, difference)
            for schemas in map(self._directed, self.pairs)
            for explain in EXPLANATIONS
            for difference in explain(schemas)
        ]
        claims = (confirmer.confirm(kind, schemas, difference) for kind, schemas, difference in candidates)
        return tuple(claim for claim in claims if claim is not None)

    def _directed(self, pair: VersionPair) -> SchemaPair:
        source, target = (pair.old, pair.new) if self.side is Side.INPUT else (pair.new, pair.old)
        closed = None if self.semantics is Semantics.EXACT else self.side is Side.INPUT
        return SchemaPair(source, target, pair.pointer, pair.path, closed)


class ToolPair(NamedTuple):
    """Two versions of one tool."""

    old: Subject
    new: Subject
    input: Comparison
    output: Comparison

    def comparison(self, side: Side) -> Comparison:
        """One side."""
        return self.input if side is Side.INPUT else self.output

    def problem(self, side: Side, pointer: str, message: str, **more: Any) -> Problem:
        """A problem in one of the new schemas. `more`: further fields of Problem."""
        origin = self.new.origin(side)
        location = SourceLocation(origin.file, origin.pointer + pointer)
        return Problem(location, message, self.new.contract.name, **more)

    def entry_problem(self, message: str, *steps: str, **more: Any) -> Problem:
        """A problem in the new entry of the tool list."""
        return Problem(self.new.entry.under(*steps), message, self.new.contract.name, **more)


def compare(old: Subject, new: Subject, *, semantics: Semantics = Semantics.DECLARED) -> ToolPair:
    """Compare two versions of one tool."""
    return ToolPair(old, new, _compare(old, new, Side.INPUT, semantics), _compare(old, new, Side.OUTPUT, semantics))


def _compare(old: Subject, new: Subject, side: Side, semantics: Semantics) -> Comparison:
    before, after = old.schema(side), new.schema(side)
    if before is not None and side is Side.INPUT and "type" not in before:
        # The protocol makes arguments an object even if the old schema omits the type.
        before = {**before, "type": "object"}
    if before is None or after is None:
        return Comparison(side=side, old=before, new=after, semantics=semantics)
    source, target = _COMPARED[semantics, side](before, after)
    return Comparison(side=side, old=before, new=after, semantics=semantics, source=source, target=target)


def _exact_input(old: JsonObject, new: JsonObject) -> tuple[Compared, Compared]:
    return Compared(schema=old), Compared(schema=new)


def _exact_output(old: JsonObject, new: JsonObject) -> tuple[Compared, Compared]:
    return Compared(schema=new), Compared(schema=old)


def _declared_input(old: JsonObject, new: JsonObject) -> tuple[Compared, Compared]:
    return _as_arguments(old), _as_arguments(new)


def _declared_output(old: JsonObject, new: JsonObject) -> tuple[Compared, Compared]:
    return Compared(schema=new, reading=Reading.DECLARED), Compared(schema=with_open_objects(old))


def _as_arguments(schema: JsonObject) -> Compared:
    """An input schema that says nothing about its arguments has none."""
    if not schema.keys() & _ABOUT_ARGUMENTS:
        schema = {**schema, "additionalProperties": False}
    return Compared(schema=schema, reading=Reading.DECLARED)


_ABOUT_ARGUMENTS = frozenset(
    {"properties", "additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "required"}
    | {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "enum", "const"}
)
_COMPARED = {
    (Semantics.EXACT, Side.INPUT): _exact_input,
    (Semantics.EXACT, Side.OUTPUT): _exact_output,
    (Semantics.DECLARED, Side.INPUT): _declared_input,
    (Semantics.DECLARED, Side.OUTPUT): _declared_output,
}
"""Which schema must be included in which, and how each is read."""
