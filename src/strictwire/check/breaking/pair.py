"""Two versions of one tool, compared once: the inclusion results and the pairs of corresponding subschemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.decide import Included, InclusionResult, decide
from strictwire.check.subject import Problem, Side, SourceLocation, Subject
from strictwire.contract.schema import escape_pointer

MAX_PAIRS = 5_000
"""Pairs of subschemas visited to explain a result. Bounds the work; the result itself does not depend on it."""


MAX_REFS = 32
"""References followed in a row; more are treated as a cycle."""


class SchemaPair(NamedTuple):
    """Two corresponding subschemas. To be compatible, `target` must accept every value that `source` accepts.

    For inputs, `source` is the old schema and `target` the new one: every old argument must still be accepted. For
    outputs, `source` is the new schema and `target` the old one: every new result must keep the old promise.
    """

    source: JsonObject
    target: JsonObject
    pointer: str
    """JSON pointer into the new schema."""


class Comparison(NamedTuple):
    """One side of a tool, old and new. `result` is None if one of the schemas is absent."""

    side: Side
    old: JsonObject | None
    new: JsonObject | None
    result: InclusionResult | None

    def schema_pairs(self) -> list[SchemaPair]:
        """The corresponding subschemas; empty if the schemas are compatible and nothing needs an explanation."""
        if self.old is None or self.new is None or self.result is None or isinstance(self.result, Included):
            return []
        pairs = _PairWalk(self.old, self.new).pairs(self.old, self.new, "")
        is_input = self.side is Side.INPUT
        return [SchemaPair(old, new, at) if is_input else SchemaPair(new, old, at) for old, new, at in pairs]


class ToolPair(NamedTuple):
    """Two versions of one tool."""

    old: Subject
    new: Subject
    input: Comparison
    output: Comparison

    def comparison(self, side: Side) -> Comparison:
        """One side."""
        return self.input if side is Side.INPUT else self.output

    def problem(self, side: Side, pointer: str, message: str) -> Problem:
        """A problem in one of the new schemas."""
        origin = self.new.origin(side)
        return Problem(SourceLocation(origin.file, origin.pointer + pointer), message, self.new.contract.name)

    def entry_problem(self, message: str, *steps: str) -> Problem:
        """A problem in the new entry of the tool list."""
        return Problem(self.new.entry.under(*steps), message, self.new.contract.name)


def compare(old: Subject, new: Subject, *, seed: int = 0) -> ToolPair:
    """Compare two versions of one tool."""
    return ToolPair(old, new, _compare(old, new, Side.INPUT, seed), _compare(old, new, Side.OUTPUT, seed))


def _compare(old: Subject, new: Subject, side: Side, seed: int) -> Comparison:
    before, after = old.schema(side), new.schema(side)
    if before is None or after is None:
        return Comparison(side, before, after, None)
    if side is Side.INPUT and "type" not in before:
        # The protocol makes arguments an object even if the old schema omits the type.
        before = {**before, "type": "object"}
    source, target = (before, after) if side is Side.INPUT else (after, before)
    return Comparison(side, before, after, decide(source, target, seed=seed))


class _PairWalk:
    """Pairs subschemas by name and position, following local references on both sides."""

    def __init__(self, old: JsonObject, new: JsonObject) -> None:
        self.roots = (old, new)
        self.seen: set[tuple[int, int]] = set()

    def pairs(self, old: Any, new: Any, pointer: str) -> Iterator[tuple[JsonObject, JsonObject, str]]:
        old, _ = self._resolve(old, self.roots[0], "")
        new, pointer = self._resolve(new, self.roots[1], pointer)
        if not isinstance(old, dict) or not isinstance(new, dict) or (id(old), id(new)) in self.seen:
            return
        self.seen.add((id(old), id(new)))
        if len(self.seen) > MAX_PAIRS or _COMPOSED & (old.keys() ^ new.keys()):
            # If only one side uses allOf, anyOf or oneOf, the keywords beside it do not correspond. The finding then
            # relies on the witness.
            return
        yield old, new, pointer
        for name, step in _CHILDREN:
            for before, after, at in step(old.get(name), new.get(name)):
                yield from self.pairs(before, after, f"{pointer}/{name}{at}")

    def _resolve(self, schema: Any, root: JsonObject, pointer: str) -> tuple[Any, str]:
        for _ in range(MAX_REFS):
            target = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(target, str) or not target.startswith("#"):
                return schema, pointer
            schema, pointer = _resolve_pointer(root, target), target[1:]
        return None, pointer


def _resolve_pointer(root: Any, reference: str) -> Any:
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(root, list):
            root = root[int(name)] if name.isdigit() and int(name) < len(root) else None
        else:
            root = root.get(name) if isinstance(root, dict) else None
    return root


def _named(old: Any, new: Any) -> Iterator[tuple[Any, Any, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() & new.keys():
            yield old[name], new[name], f"/{escape_pointer(name)}"


def _single(old: Any, new: Any) -> Iterator[tuple[Any, Any, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield old, new, ""


def _listed(old: Any, new: Any) -> Iterator[tuple[Any, Any, str]]:
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield before, after, f"/{index}"


_COMPOSED = frozenset({"allOf", "anyOf", "oneOf"})
_CHILDREN = (
    ("properties", _named),
    ("patternProperties", _named),
    ("additionalProperties", _single),
    ("items", _single),
    ("prefixItems", _listed),
    ("allOf", _listed),
    ("anyOf", _listed),
    ("oneOf", _listed),
)
