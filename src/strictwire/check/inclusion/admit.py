"""Whether a piece or a schema admits one value: yes, no, or not known (None) where a clause cannot be judged."""

from __future__ import annotations

from typing import Any

from strictwire.canon.json import NotStrict, parse_object
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import (
    Layer,
    Piece,
    Root,
    Schema,
    Unsupported,
    fits_number,
    has_reference,
    kind_of,
    value_text,
)
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused


def admits(schema: Schema, value: Any, root: Root) -> bool | None:
    """Whether a schema admits a value."""
    if isinstance(schema, bool):
        return schema
    try:
        answers = [piece_admits(piece, value, root) for piece in expand(schema, root)]
    except Unsupported:
        return None
    return _any(answers)


def piece_admits(piece: Piece, value: Any, root: Root) -> bool | None:
    """Whether a piece admits a value."""
    if kind_of(value) != piece.kind:
        return False
    if piece.literals is not None and value_text(value) not in {value_text(each) for each in piece.literals}:
        return False
    answers: list[bool | None] = [_fits(piece, value)]
    answers += [answer for layer in piece.layers for answer in _members(layer, value, root)]
    answers += [_clause_admits(clause, value) for clause in piece.opaque]
    return _all(answers)


def _fits(piece: Piece, value: Any) -> bool:
    if piece.kind == "number":
        return fits_number(value, piece)
    if piece.kind not in ("string", "array", "object"):
        return True
    if len(value) < piece.low or (piece.high is not None and len(value) > piece.high):
        return False
    if piece.unique and len({value_text(each) for each in value}) < len(value):
        return False
    return piece.kind != "object" or piece.required <= value.keys()


def _members(layer: Layer, value: Any, root: Root) -> list[bool | None]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return [_member_admits(layer, name, member, root) for name, member in members]


def _member_admits(layer: Layer, name: str | int, member: Any, root: Root) -> bool | None:
    matching = [schema for pattern, schema in layer.patterned.items() if _matches(pattern, str(name))]
    if name in layer.named:
        matching.append(layer.named[name])
    asked = matching or [layer.rest]
    return _all([admits(schema, member, root) for schema in asked])


def _matches(pattern: str, name: str) -> bool:
    return bool(_clause_admits(value_text({"pattern": pattern}), name))


def _clause_admits(clause: str, value: Any) -> bool | None:
    """The engine judges a clause that stands alone; one with references needs its document."""
    if has_reference(clause):
        return None
    try:
        return compile_schema(parse_object(clause.encode())).accepts(value)
    except (SchemaRefused, NotStrict):
        return None


def _all(answers: list[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _any(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False
