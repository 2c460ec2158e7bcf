"""Whether a piece or a schema accepts a value: True, False, or None (unknown) if an opaque clause cannot be evaluated."""

from __future__ import annotations

from typing import Any

from strictwire.canon.json import NotStrict, parse_object
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import (
    Layer,
    Piece,
    Root,
    Schema,
    UnsupportedSchema,
    canonical_text,
    fits_number,
    has_reference,
    kind_of,
)
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused


def admits(schema: Schema, value: Any, root: Root) -> bool | None:
    """Whether a schema accepts a value; None if unknown."""
    if isinstance(schema, bool):
        return schema
    try:
        results = [piece_admits(piece, value, root) for piece in expand(schema, root)]
    except UnsupportedSchema:
        return None
    return _any(results)


def piece_admits(piece: Piece, value: Any, root: Root) -> bool | None:
    """Whether a piece accepts a value; None if unknown."""
    if kind_of(value) != piece.kind:
        return False
    if piece.literals is not None and canonical_text(value) not in {canonical_text(each) for each in piece.literals}:
        return False
    results: list[bool | None] = [_fits(piece, value)]
    results += [result for layer in piece.layers for result in _members(layer, value, root)]
    results += [_clause_admits(clause, value) for clause in piece.opaque]
    return _all(results)


def _fits(piece: Piece, value: Any) -> bool:
    if piece.kind == "number":
        return fits_number(value, piece)
    if piece.kind not in ("string", "array", "object"):
        return True
    if len(value) < piece.low or (piece.high is not None and len(value) > piece.high):
        return False
    if piece.unique and len({canonical_text(each) for each in value}) < len(value):
        return False
    return piece.kind != "object" or piece.required <= value.keys()


def _members(layer: Layer, value: Any, root: Root) -> list[bool | None]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return [_member_admits(layer, name, member, root) for name, member in members]


def _member_admits(layer: Layer, name: str | int, member: Any, root: Root) -> bool | None:
    matching = [schema for pattern, schema in layer.patterned.items() if _matches(pattern, str(name))]
    if name in layer.named:
        matching.append(layer.named[name])
    applicable = matching or [layer.rest]
    return _all([admits(schema, member, root) for schema in applicable])


def _matches(pattern: str, name: str) -> bool:
    return bool(_clause_admits(canonical_text({"pattern": pattern}), name))


def _clause_admits(clause: str, value: Any) -> bool | None:
    """Evaluate a clause with the schema engine; None if it has references, which need the whole document."""
    if has_reference(clause):
        return None
    try:
        return compile_schema(parse_object(clause.encode())).accepts(value)
    except (SchemaRefused, NotStrict):
        return None


def _all(results: list[bool | None]) -> bool | None:
    if False in results:
        return False
    return None if None in results else True


def _any(results: list[bool | None]) -> bool | None:
    if True in results:
        return True
    return None if None in results else False
