"""A schema as a union of pieces, each of one JSON type with a conjunction of constraints.

What is understood (types, enumerations, bounds, lengths, members, items, local references, `allOf`, `anyOf`, disjoint
`oneOf`) becomes fields. What is not (patterns, formats, `not`, `if`, `contains`, dependencies, unevaluated members) is
kept as an opaque clause: a piece means its fields and its clauses together, so nothing is lost and nothing is guessed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import jsonschema_rs

from strictwire.canon.json import JsonObject, render_sorted
from strictwire.contract.fingerprint import strip_text
from strictwire.contract.schema import SchemaRefused, draft_of

Schema: TypeAlias = bool | JsonObject

MAX_PIECES: Final = 64
"""Pieces of one schema. A product of unions grows fast; past this the question is left undecided."""

MAX_REFS: Final = 32
"""References followed without descending into the instance."""

KINDS: Final = ("null", "boolean", "number", "string", "array", "object")


class Unsupported(Exception):
    """The schema is outside what can be decided. The text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One set of member or item rules; a piece may have several, all of which apply."""

    named: Mapping[str | int, Schema]
    """`properties`, or `prefixItems` by index."""
    rest: Schema = True
    """`additionalProperties`, or `items`."""
    patterned: Mapping[str, Schema] = field(default_factory=lambda: MappingProxyType({}))
    """`patternProperties`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Values of one type under every constraint named here."""

    kind: str
    literals: tuple[Any, ...] | None = None
    """The only values, where they are listed. Always set for null and boolean."""
    lower: Fraction | None = None
    lower_open: bool = False
    upper: Fraction | None = None
    upper_open: bool = False
    multiples: frozenset[Fraction] = frozenset()
    """The number is a multiple of each; 1 stands for `integer`."""
    low: int = 0
    """Least length, items or members."""
    high: int | None = None
    required: frozenset[str] = frozenset()
    unique: bool = False
    layers: tuple[Layer, ...] = ()
    opaque: frozenset[str] = frozenset()
    """Clauses that are not understood, as canonical text of the keywords."""


WHOLE: Final = Fraction(1)

EVERYTHING: Final = (
    Piece(kind="null", literals=(None,)),
    Piece(kind="boolean", literals=(False, True)),
    *(Piece(kind=kind) for kind in KINDS[2:]),
)


@dataclass(frozen=True, kw_only=True)
class Root:
    """The document that local references lead into."""

    document: JsonObject
    draft: int

    @cached_property
    def text(self) -> str:
        """One for equal documents. Few questions need it, and it takes long to make."""
        return text_of(self.document)

    def resolve(self, reference: str) -> Schema:
        """The schema a local reference names. Raises Unsupported: remote, an anchor, or nothing there."""
        if not reference.startswith("#") or (len(reference) > 1 and reference[1] != "/"):
            raise Unsupported(f"the reference {reference} is not a pointer into this document")
        target: Any = self.document
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and name.isdigit() and int(name) < len(target):
                target = target[int(name)]
            elif isinstance(target, dict) and name in target:
                target = target[name]
            else:
                raise Unsupported(f"the reference {reference} leads nowhere")
        return as_schema(target)


def open_root(document: JsonObject) -> Root:
    """Raises Unsupported: a dialect whose rules are not implemented here."""
    try:
        draft = draft_of(document)
    except SchemaRefused as exc:
        raise Unsupported("the schema names a dialect that is not known") from exc
    if draft not in (jsonschema_rs.Draft202012, jsonschema_rs.Draft7):
        raise Unsupported("only 2020-12 and draft-07 schemas are compared")
    return Root(document=document, draft=draft)


def text_of(value: Any) -> str:
    """One text for equal schemas, their descriptions aside."""
    return value_text(strip_text(value))


def value_text(value: Any) -> str:
    """One text for equal JSON values in the sense of JSON Schema: 1.0 is 1, and large integers stay exact."""
    return render_sorted(_with_whole_numbers(value)).decode()


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_whole_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_schema(value: Any) -> Schema:
    """Raises Unsupported: the place holds no schema."""
    if isinstance(value, dict | bool):
        return value
    raise Unsupported("a place that should hold a schema holds something else")


def has_reference(text: str) -> bool:
    """Whether a schema text may contain a reference; a property of such a name counts too, which is only careful."""
    return 'ef":' in text


def kind_of(value: Any) -> str:
    """The JSON type of a value; integers are numbers."""
    if value is None:
        return "null"
    names = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next(name for type_, name in names if isinstance(value, type_))


def member_schema(piece: Piece, name: str | int) -> Schema:
    """What the piece asks of one member or item by name or index, in every layer at once."""
    asked = [_in_layer(layer, name) for layer in piece.layers]
    return all_of(asked)


def all_of(schemas: Iterable[Schema]) -> Schema:
    """The conjunction, as small as it can be said."""
    kept = [schema for schema in schemas if schema is not True and schema != {}]
    if any(schema is False for schema in kept):
        return False
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else {"allOf": kept}


def _in_layer(layer: Layer, name: str | int) -> Schema:
    if name in layer.named:
        # Leaving out the patterns that may match as well asks less, never more.
        return layer.named[name]
    return rest_schema(layer)


def rest_schema(layer: Layer) -> Schema:
    """What a member that is not named may be at most: by the rest, or by a pattern that may match it."""
    if not layer.patterned:
        return layer.rest
    return {"anyOf": [layer.rest, *layer.patterned.values()]}


def meet_all(ones: tuple[Piece, ...], others: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The intersection of two unions. Raises Unsupported: too many pieces."""
    if ones is EVERYTHING:
        return others
    met = tuple(piece for one in ones for other in others if (piece := meet(one, other)) is not None)
    if len(met) > MAX_PIECES:
        raise Unsupported(f"the alternatives multiply beyond {MAX_PIECES}")
    return met


def meet(one: Piece, other: Piece) -> Piece | None:
    """The intersection of two pieces, or None if it is plainly empty."""
    if one.kind != other.kind:
        return None
    lower, lower_open = tighter(one.lower, one.lower_open, other.lower, other.lower_open, sign=1)
    upper, upper_open = tighter(one.upper, one.upper_open, other.upper, other.upper_open, sign=-1)
    highs = [high for high in (one.high, other.high) if high is not None]
    return settle(
        Piece(
            kind=one.kind,
            literals=common(one.literals, other.literals),
            lower=lower,
            lower_open=lower_open,
            upper=upper,
            upper_open=upper_open,
            multiples=one.multiples | other.multiples,
            low=max(one.low, other.low),
            high=min(highs) if highs else None,
            required=one.required | other.required,
            unique=one.unique or other.unique,
            layers=one.layers + other.layers,
            opaque=one.opaque | other.opaque,
        )
    )


def tighter(
    one: Fraction | None, one_open: bool, other: Fraction | None, other_open: bool, *, sign: int
) -> tuple[Fraction | None, bool]:
    """The tighter of two bounds; `sign` is 1 for lower bounds and -1 for upper ones."""
    if one is None or other is None:
        return (other, other_open) if one is None else (one, one_open)
    if one == other:
        return one, one_open or other_open
    return (one, one_open) if (one - other) * sign > 0 else (other, other_open)


def common(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The values in both lists; None stands for every value."""
    if one is None or other is None:
        return other if one is None else one
    known = {value_text(value) for value in other}
    return tuple(value for value in one if value_text(value) in known)


def settle(piece: Piece) -> Piece | None:
    """Whole bounds for whole numbers and only literals that fit the plain bounds; None if nothing is left."""
    if piece.kind == "number" and any(m.denominator == 1 for m in piece.multiples):
        piece = _with_whole_bounds(piece)
    if piece.literals is not None:
        fitting = tuple(value for value in piece.literals if _fits_bounds(value, piece))
        return replace(piece, literals=fitting) if fitting else None
    return None if _is_void(piece) else piece


def _with_whole_bounds(piece: Piece) -> Piece:
    lower, upper = piece.lower, piece.upper
    if lower is not None:
        lower = Fraction(math.floor(lower) + 1 if piece.lower_open else math.ceil(lower))
    if upper is not None:
        upper = Fraction(math.ceil(upper) - 1 if piece.upper_open else math.floor(upper))
    return replace(piece, lower=lower, lower_open=False, upper=upper, upper_open=False)


def _is_void(piece: Piece) -> bool:
    if piece.high is not None and piece.low > piece.high:
        return True
    if piece.high is not None and len(piece.required) > piece.high:
        return True
    if piece.lower is None or piece.upper is None:
        return False
    return piece.lower > piece.upper or (piece.lower == piece.upper and (piece.lower_open or piece.upper_open))


def _fits_bounds(value: Any, piece: Piece) -> bool:
    if piece.kind == "number":
        return fits_number(value, piece)
    if piece.kind in ("string", "array", "object"):
        fits = piece.low <= len(value) and (piece.high is None or len(value) <= piece.high)
        return fits and (piece.kind != "object" or piece.required <= value.keys())
    return True


def fits_number(value: float, piece: Piece) -> bool:
    """Whether a number is within the bounds and a multiple of what it must be."""
    exact = fraction(value)
    if piece.lower is not None and (exact < piece.lower or (exact == piece.lower and piece.lower_open)):
        return False
    if piece.upper is not None and (exact > piece.upper or (exact == piece.upper and piece.upper_open)):
        return False
    return all((exact / multiple).denominator == 1 for multiple in piece.multiples)


def fraction(number: float) -> Fraction:
    """The number as written: 0.1 is one tenth here, whatever the double says."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))
