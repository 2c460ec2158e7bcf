"""A schema in disjunctive normal form: a union of pieces, each one JSON type with a conjunction of constraints.

Keywords that the proof understands (types, enums, bounds, lengths, properties, items, local references, `allOf`, `anyOf`,
disjoint `oneOf`) become fields. Others (patterns, formats, `not`, `if`, `contains`, dependencies, unevaluated properties)
are kept as opaque clauses. A piece is the conjunction of its fields and its clauses, so no constraint is lost or guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject, render, render_sorted
from strictwire.contract.schema import SchemaRefused, draft_of
from strictwire.contract.subschemas import strip_text

Schema: TypeAlias = bool | JsonObject

MAX_PIECES: Final = 64
"""Maximum number of pieces of one schema. A product of unions grows exponentially; beyond this, inclusion is undecided."""

MAX_REFS: Final = 32
"""References followed without descending into the instance; more are treated as a cycle."""

KINDS: Final = ("null", "boolean", "number", "string", "array", "object")
"""The JSON types; `integer` is a number with multiple 1."""


class UnsupportedSchema(Exception):
    """The comparison does not support this schema. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One set of property or item schemas. A piece may have several layers (from `allOf`); all of them apply."""

    named: Mapping[str | int, Schema]
    """`properties`, or `prefixItems` by index."""
    rest: Schema = True
    """`additionalProperties`, or `items`."""
    patterned: Mapping[str, Schema] = field(default_factory=lambda: MappingProxyType({}))
    """`patternProperties`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The values of one JSON type that satisfy all of these constraints."""

    kind: str
    literals: tuple[Any, ...] | None = None
    """The allowed values, from `enum` or `const`; None if not restricted. Always set for null and boolean."""
    lower: Fraction | None = None
    lower_open: bool = False
    upper: Fraction | None = None
    upper_open: bool = False
    multiples: frozenset[Fraction] = frozenset()
    """The number must be a multiple of each; 1 means `integer`."""
    low: int = 0
    """Minimum length, number of items or number of properties."""
    high: int | None = None
    """Maximum length, number of items or number of properties."""
    required: frozenset[str] = frozenset()
    unique: bool = False
    layers: tuple[Layer, ...] = ()
    opaque: frozenset[str] = frozenset()
    """Opaque clauses: keywords that the proof does not understand, as canonical JSON."""
    declared: frozenset[str] = frozenset()
    """Properties that opaque clauses declare, such as `then`."""


INTEGER_STEP: Final = Fraction(1)
"""The multiple that stands for `type: integer`."""

EVERYTHING: Final = (
    Piece(kind="null", literals=(None,)),
    Piece(kind="boolean", literals=(False, True)),
    *(Piece(kind=kind) for kind in KINDS[2:]),
)
"""The pieces of a schema without constraints."""


class Reading(StrEnum):
    """How the properties of a schema are read."""

    AS_WRITTEN = "as written"
    """An object may have undeclared properties unless the schema forbids them: the meaning in JSON Schema."""
    DECLARED = "declared"
    """An object with declared properties has no others: what callers send, and what a result is documented to contain."""


@dataclass(frozen=True, kw_only=True)
class Root:
    """The document that local references point into, and its dialect."""

    document: JsonObject
    draft: int
    reading: Reading
    expanded: dict[int, tuple[Schema, tuple[Piece, ...]]] = field(default_factory=dict)
    """Pieces by `id()` of a schema. The schema is kept alive so that its id is not reused."""
    texts: dict[int, tuple[Schema, str]] = field(default_factory=dict)
    """Canonical texts by `id()` of a schema."""

    def text_of(self, schema: Schema) -> str:
        """Canonical text of a schema in this document."""
        known = self.texts.get(id(schema))
        if known is None:
            known = self.texts[id(schema)] = schema, canonical_schema(schema)
        return known[1]

    @cached_property
    def as_written(self) -> Root:
        """The same document in the reading AS_WRITTEN."""
        return self if self.reading is Reading.AS_WRITTEN else open_root(self.document)

    @cached_property
    def has_references(self) -> bool:
        """Whether the document may contain a reference."""
        return has_reference(render(self.document).decode())

    @cached_property
    def text(self) -> str:
        """Canonical text, equal for equal documents. Computed on first use because it is expensive and rarely needed."""
        return canonical_schema(self.document)

    def resolve(self, reference: str) -> Schema:
        """The schema that a local reference points to. Raises UnsupportedSchema: remote, an anchor, or unresolvable."""
        if not reference.startswith("#") or (len(reference) > 1 and reference[1] != "/"):
            raise UnsupportedSchema(f"the reference {reference} is not a JSON pointer into the same document")
        target: Any = self.document
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and name.isdigit() and int(name) < len(target):
                target = target[int(name)]
            elif isinstance(target, dict) and name in target:
                target = target[name]
            else:
                raise UnsupportedSchema(f"the reference {reference} does not resolve")
        return as_schema(target)


def open_root(document: JsonObject, reading: Reading = Reading.AS_WRITTEN) -> Root:
    """The root of a document. Raises UnsupportedSchema if its dialect is unknown."""
    try:
        draft = draft_of(document)
    except SchemaRefused as exc:
        raise UnsupportedSchema("the schema has an unknown dialect in $schema") from exc
    return Root(document=document, draft=draft, reading=reading)


_FLOAT: Final = re.compile(rb"\d[.eE]")


def is_same_json(one: Any, other: Any) -> bool:
    """Whether two values are written alike. Fast: skips equal parts. Python's `==` would confuse 1 and true."""
    return one is other or render(one) == render(other)


def canonical_schema(value: Any) -> str:
    """Canonical JSON of a schema without titles, descriptions and other texts: equal for equal schemas."""
    return canonical_text(strip_text(value))


def canonical_text(value: Any) -> str:
    """Canonical JSON of a value: equal for values that JSON Schema treats as equal. 1.0 is 1; large integers stay exact."""
    raw = render_sorted(value)
    # Only a number with a fraction or an exponent can be an integer in another spelling.
    return (render_sorted(_with_integers(value)) if _FLOAT.search(raw) else raw).decode()


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_integers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_integers(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_schema(value: Any) -> Schema:
    """Narrow a value to a schema. Raises UnsupportedSchema if it is neither an object nor a boolean."""
    if isinstance(value, dict | bool):
        return value
    raise UnsupportedSchema("expected a schema (an object or a boolean)")


def has_reference(text: str) -> bool:
    """Whether a schema text may contain a reference. A property name that ends in `ef` also counts: conservative."""
    return 'ef":' in text


def kind_of(value: Any) -> str:
    """The JSON type of a value; integers are numbers."""
    if value is None:
        return "null"
    names = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next(name for type_, name in names if isinstance(value, type_))


def member_schema(piece: Piece, name: str | int) -> Schema:
    """The schema of one property or item, by name or index: the conjunction over all layers."""
    return all_of(_in_layer(layer, name) for layer in piece.layers)


def all_of(schemas: Iterable[Schema]) -> Schema:
    """The conjunction of schemas, without redundant members."""
    kept = [schema for schema in schemas if schema is not True and schema != {}]
    if any(schema is False for schema in kept):
        return False
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else {"allOf": kept}


def _in_layer(layer: Layer, name: str | int) -> Schema:
    if name in layer.named:
        # Ignoring patterns that may also match accepts more values, never fewer: safe for the source side of a proof.
        return layer.named[name]
    return rest_schema(layer)


def rest_schema(layer: Layer) -> Schema:
    """An upper bound for the schema of an undeclared property: `rest`, or any pattern that may match its name."""
    if not layer.patterned:
        return layer.rest
    return {"anyOf": [layer.rest, *layer.patterned.values()]}


def intersect_unions(ones: tuple[Piece, ...], others: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The intersection of two unions of pieces. Raises UnsupportedSchema if it has too many pieces."""
    if ones is EVERYTHING:
        return others
    pieces = tuple(piece for one in ones for other in others if (piece := intersect(one, other)) is not None)
    if len(pieces) > MAX_PIECES:
        raise UnsupportedSchema(f"the schema has more than {MAX_PIECES} alternatives after expansion")
    return pieces


def intersect(one: Piece, other: Piece) -> Piece | None:
    """The intersection of two pieces, or None if it is obviously empty."""
    if one.kind != other.kind:
        return None
    lower, lower_open = tighter_bound(one.lower, one.lower_open, other.lower, other.lower_open, sign=1)
    upper, upper_open = tighter_bound(one.upper, one.upper_open, other.upper, other.upper_open, sign=-1)
    highs = [high for high in (one.high, other.high) if high is not None]
    return normalize(
        Piece(
            kind=one.kind,
            literals=common_values(one.literals, other.literals),
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
            declared=one.declared | other.declared,
        )
    )


def tighter_bound(
    one: Fraction | None, one_open: bool, other: Fraction | None, other_open: bool, *, sign: int
) -> tuple[Fraction | None, bool]:
    """The tighter of two bounds; `sign` is 1 for lower bounds and -1 for upper bounds."""
    if one is None or other is None:
        return (other, other_open) if one is None else (one, one_open)
    if one == other:
        return one, one_open or other_open
    return (one, one_open) if (one - other) * sign > 0 else (other, other_open)


def common_values(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The values in both lists; None means every value."""
    if one is None or other is None:
        return other if one is None else one
    known = {canonical_text(value) for value in other}
    return tuple(value for value in one if canonical_text(value) in known)


def normalize(piece: Piece) -> Piece | None:
    """Round the bounds of integers and drop literals outside the bounds. Returns None if no value is left."""
    if piece.kind == "number" and any(m.denominator == 1 for m in piece.multiples):
        piece = _with_integer_bounds(piece)
    if piece.literals is not None:
        fitting = tuple(value for value in piece.literals if _fits_bounds(value, piece))
        if fitting and len(fitting) == len(piece.literals):
            return piece
        return replace(piece, literals=fitting) if fitting else None
    return None if _is_empty(piece) else piece


def _with_integer_bounds(piece: Piece) -> Piece:
    lower, upper = piece.lower, piece.upper
    if lower is not None:
        lower = Fraction(math.floor(lower) + 1 if piece.lower_open else math.ceil(lower))
    if upper is not None:
        upper = Fraction(math.ceil(upper) - 1 if piece.upper_open else math.floor(upper))
    return replace(piece, lower=lower, lower_open=False, upper=upper, upper_open=False)


def _is_empty(piece: Piece) -> bool:
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
    """Whether a number is within the bounds and a multiple of every required divisor."""
    exact = fraction(value)
    if piece.lower is not None and (exact < piece.lower or (exact == piece.lower and piece.lower_open)):
        return False
    if piece.upper is not None and (exact > piece.upper or (exact == piece.upper and piece.upper_open)):
        return False
    return all((exact / multiple).denominator == 1 for multiple in piece.multiples)


def fraction(number: float) -> Fraction:
    """The number as written in JSON: 0.1 is exactly one tenth, unlike the double."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))
