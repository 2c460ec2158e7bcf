"""Proves that a piece satisfies an opaque clause: `not`, overlapping `oneOf`, `if`, dependencies, names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from strictwire.canon.json import JsonObject, NotStrict, parse_object
from strictwire.check.inclusion.admit import admits
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import Piece, Root, Schema, UnsupportedSchema, as_schema, has_reference, intersect


class Prover(Protocol):
    """What the proof of a clause needs from the proof it is part of."""

    @property
    def target(self) -> Root: ...

    def is_empty(self, piece: Piece) -> bool:
        """Whether a piece certainly accepts nothing."""

    def is_included(self, piece: Piece, schema: Schema) -> bool:
        """Whether a schema certainly accepts everything in a piece."""

    def never_has(self, piece: Piece, name: str) -> bool:
        """Whether no object of a piece has a property."""


def clause_holds(clause: str, piece: Piece, prover: Prover) -> bool:
    """Whether every value of a piece certainly satisfies a clause. Clauses with references are not proved."""
    if has_reference(clause):
        return False
    try:
        fragment = parse_object(clause.partition(" in ")[0].encode())
        holds = _PROOFS.get(next(iter(sorted(fragment)), ""))
        return holds is not None and holds(fragment, piece, prover)
    except (NotStrict, UnsupportedSchema):
        return False


def _is_disjoint(schema: Any, piece: Piece, prover: Prover) -> bool:
    # A negated schema excludes what it accepts as written: reading it as closed would exclude less.
    joined = (intersect(piece, other) for other in expand(as_schema(schema), prover.target.as_written))
    return all(each is None or prover.is_empty(each) for each in joined)


def _not(fragment: JsonObject, piece: Piece, prover: Prover) -> bool:
    return _is_disjoint(fragment["not"], piece, prover)


def _one_of(fragment: JsonObject, piece: Piece, prover: Prover) -> bool:
    """The piece is inside one branch and outside all others."""
    near = [branch for branch in fragment["oneOf"] if not _is_disjoint(branch, piece, prover)]
    return len(near) == 1 and prover.is_included(piece, as_schema(near[0]))


def _if(fragment: JsonObject, piece: Piece, prover: Prover) -> bool:
    then_holds = "then" not in fragment or prover.is_included(piece, as_schema(fragment["then"]))
    else_holds = "else" not in fragment or prover.is_included(piece, as_schema(fragment["else"]))
    if then_holds and else_holds:
        return True
    if then_holds:
        return prover.is_included(piece, as_schema(fragment["if"]))
    return else_holds and _is_disjoint(fragment["if"], piece, prover)


def _dependent_required(fragment: JsonObject, piece: Piece, prover: Prover) -> bool:
    needs = fragment["dependentRequired"].items()
    return all(set(names) <= piece.required or prover.never_has(piece, name) for name, names in needs)


def _property_names(fragment: JsonObject, piece: Piece, prover: Prover) -> bool:
    """Every name that a closed object may have satisfies the schema."""
    closed = [layer.named for layer in piece.layers if layer.rest is False and not layer.patterned]
    return any(all(admits(fragment["propertyNames"], name, prover.target) for name in named) for named in closed)


def _contains(fragment: JsonObject, piece: Piece, prover: Prover) -> bool:
    """Every item satisfies the schema, and there are enough of them."""
    least = fragment.get("minContains", 1)
    if piece.kind != "array" or "maxContains" in fragment or piece.low < least:
        return False
    every_item = {"type": "array", "items": fragment["contains"]}
    return prover.is_included(piece, every_item)


_PROOFS: Final[Mapping[str, Callable[[JsonObject, Piece, Prover], bool]]] = MappingProxyType(
    {
        "not": _not,
        "oneOf": _one_of,
        "if": _if,
        "else": _if,
        "dependentRequired": _dependent_required,
        "propertyNames": _property_names,
        "contains": _contains,
    }
)
"""The proof for each kind of clause, by its first keyword in alphabetical order."""
