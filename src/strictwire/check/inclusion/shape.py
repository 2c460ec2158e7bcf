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


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """The document that local references lead into."""

    document: JsonObject
    draft: int
    text: str

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
    return Root(document=document, draft=draft, text=text_of(document))


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


def kind_of(value: Any) -> str:
    """The JSON type of a value; integers are numbers."""
    if value is None:
        return "null"
    names = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next(name for type_, name in names if isinstance(value, type_))


def expand(schema: Schema, root: Root, depth: int = 0) -> tuple[Piece, ...]:
    """The pieces of a schema; none if it accepts nothing. Raises Unsupported."""
    if isinstance(schema, bool):
        return EVERYTHING if schema else ()
    if depth > MAX_REFS:
        raise Unsupported("references lead in a circle")
    if "$id" in schema and schema is not root.document:
        raise Unsupported("an embedded resource ($id) changes what references mean")
    if "$ref" in schema and root.draft == jsonschema_rs.Draft7:
        # Draft-07: "All other properties in a "$ref" object MUST be ignored."
        return expand(root.resolve(schema["$ref"]), root, depth + 1)
    pieces = _own(schema, root)
    for other in _conjuncts(schema, root, depth):
        pieces = meet_all(pieces, other)
    return pieces


def _conjuncts(schema: JsonObject, root: Root, depth: int) -> Iterable[tuple[Piece, ...]]:
    if "$ref" in schema:
        yield expand(root.resolve(schema["$ref"]), root, depth + 1)
    for each in schema.get("allOf", ()):
        yield expand(as_schema(each), root, depth + 1)
    if "anyOf" in schema:
        yield tuple(piece for each in schema["anyOf"] for piece in expand(as_schema(each), root, depth + 1))
    if "oneOf" in schema:
        yield _one_of(schema["oneOf"], root, depth)


def _one_of(branches: list[Any], root: Root, depth: int) -> tuple[Piece, ...]:
    """Branches that cannot overlap are a plain union; otherwise the union also carries the clause."""
    expanded = [expand(as_schema(each), root, depth + 1) for each in branches]
    if _are_disjoint(expanded, root):
        return tuple(piece for pieces in expanded for piece in pieces)
    clause = frozenset({_clause({"oneOf": branches}, root)})
    return tuple(replace(piece, opaque=piece.opaque | clause) for pieces in expanded for piece in pieces)


def _are_disjoint(expanded: list[tuple[Piece, ...]], root: Root) -> bool:
    return all(
        not meet_all(one, other) or not any(not _clashes(piece, root) for piece in meet_all(one, other))
        for index, one in enumerate(expanded)
        for other in expanded[index + 1 :]
    )


def _clashes(piece: Piece, root: Root) -> bool:
    """Whether a required member has no value left: the usual discriminator of a union."""
    return any(_never(member_schema(piece, name), root) for name in piece.required)


def _never(schema: Schema, root: Root) -> bool:
    try:
        return not expand(schema, root, MAX_REFS - 4)
    except Unsupported:
        return False


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
    lower, lower_open = _tighter(one.lower, one.lower_open, other.lower, other.lower_open, sign=1)
    upper, upper_open = _tighter(one.upper, one.upper_open, other.upper, other.upper_open, sign=-1)
    highs = [high for high in (one.high, other.high) if high is not None]
    return settle(
        Piece(
            kind=one.kind,
            literals=_common(one.literals, other.literals),
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


def _tighter(
    one: Fraction | None, one_open: bool, other: Fraction | None, other_open: bool, *, sign: int
) -> tuple[Fraction | None, bool]:
    if one is None or other is None:
        return (other, other_open) if one is None else (one, one_open)
    if one == other:
        return one, one_open or other_open
    return (one, one_open) if (one - other) * sign > 0 else (other, other_open)


def _common(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
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


def _own(schema: JsonObject, root: Root) -> tuple[Piece, ...]:
    """The pieces of the keywords that stand in this object, references and combinations aside."""
    clauses = frozenset(_clauses(schema, root))
    kinds = _kinds(schema)
    listed = _listed(schema)
    pieces = [_BUILDERS[kind](schema, root) for kind in KINDS if kind in kinds]
    if kinds.get("number") == "integer":
        pieces = [replace(p, multiples=p.multiples | {WHOLE}) if p.kind == "number" else p for p in pieces]
    if listed is not None:
        pieces = [replace(p, literals=_common(_of_kind(listed, p.kind), p.literals)) for p in pieces]
    settled = (settle(replace(piece, opaque=piece.opaque | clauses)) for piece in pieces)
    return tuple(piece for piece in settled if piece is not None)


def _of_kind(values: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    return tuple(value for value in values if kind_of(value) == kind)


def _kinds(schema: JsonObject) -> Mapping[str, str]:
    """The kinds allowed, and whether numbers must be whole."""
    named = schema.get("type")
    if named is None:
        return {kind: kind for kind in KINDS}
    names = [named] if isinstance(named, str) else list(named)
    kinds = {name: name for name in names if name != "integer"}
    if "integer" in names and "number" not in names:
        kinds["number"] = "integer"
    return kinds


def _listed(schema: JsonObject) -> tuple[Any, ...] | None:
    listed = tuple(schema["enum"]) if isinstance(schema.get("enum"), list) else None
    if "const" in schema:
        return _common((schema["const"],), listed)
    return listed


_CLAUSES: Final = (("not",), ("if", "then", "else"), ("$dynamicRef",), ("$recursiveRef",), ("dependencies",))
"""Keywords of any type that are kept as they are, in groups that mean something only together."""


def _clauses(schema: JsonObject, root: Root) -> Iterable[str]:
    for group in _CLAUSES:
        if group[0] in schema:
            yield _clause({name: schema[name] for name in group if name in schema}, root)
    if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
        # What counts as evaluated depends on every neighbour.
        yield _clause(schema, root)


def _clause(fragment: JsonObject, root: Root) -> str:
    """Equal texts must mean equal things: the same dialect, and with a reference inside, the same document."""
    text = text_of(fragment)
    if has_reference(text):
        return f"{text} in {root.draft} {root.text}"
    return text if root.draft == jsonschema_rs.Draft202012 or "pattern" in fragment else f"{text} in {root.draft}"


def has_reference(text: str) -> bool:
    """Whether a schema text may contain a reference; a property of such a name counts too, which is only careful."""
    return 'ef":' in text


def _picked(schema: JsonObject, names: tuple[str, ...], root: Root) -> frozenset[str]:
    return frozenset(_clause({name: schema[name]}, root) for name in names if name in schema)


def _number(schema: JsonObject, root: Root) -> Piece:
    piece = Piece(kind="number")
    for keyword, bound, sign in (
        ("minimum", "lower", 1),
        ("exclusiveMinimum", "lower", 1),
        ("maximum", "upper", -1),
        ("exclusiveMaximum", "upper", -1),
    ):
        if keyword in schema:
            value, is_open = _tighter(
                getattr(piece, bound),
                getattr(piece, f"{bound}_open"),
                fraction(schema[keyword]),
                keyword.startswith("ex"),
                sign=sign,
            )
            piece = replace(piece, **{bound: value, f"{bound}_open": is_open})  # type: ignore[arg-type]
    if "multipleOf" in schema:
        piece = replace(piece, multiples=frozenset({fraction(schema["multipleOf"])}))
    return replace(piece, opaque=_picked(schema, ("format",), root))


_TEXT_CLAUSES: Final = ("pattern", "format", "contentEncoding", "contentMediaType")
"""The last two are enforced in draft-07 and comments in 2020-12; a change is left undecided in both."""


def _string(schema: JsonObject, root: Root) -> Piece:
    low, high = _sizes(schema, "Length")
    return Piece(kind="string", low=low, high=high, opaque=_picked(schema, _TEXT_CLAUSES, root))


def _array(schema: JsonObject, root: Root) -> Piece:
    low, high = _sizes(schema, "Items")
    names: tuple[str, ...] = ("contains", "minContains", "maxContains")
    contains = {name: schema[name] for name in names if name in schema}
    return Piece(
        kind="array",
        low=low,
        high=high,
        unique=schema.get("uniqueItems") is True,
        layers=_item_layers(schema, root),
        opaque=frozenset({_clause(contains, root)}) if "contains" in schema else frozenset(),
    )


def _item_layers(schema: JsonObject, root: Root) -> tuple[Layer, ...]:
    first, rest = schema.get("prefixItems", ()), schema.get("items", True)
    if root.draft == jsonschema_rs.Draft7:
        first = rest if isinstance(rest, list) else ()
        rest = schema.get("additionalItems", True) if isinstance(rest, list) else rest
    if not first and rest is True:
        return ()
    return (Layer(named={index: as_schema(each) for index, each in enumerate(first)}, rest=as_schema(rest)),)


def _object(schema: JsonObject, root: Root) -> Piece:
    low, high = _sizes(schema, "Properties")
    required = frozenset(schema.get("required", ()))
    layer = Layer(
        named={name: as_schema(each) for name, each in schema.get("properties", {}).items()},
        rest=as_schema(schema.get("additionalProperties", True)),
        patterned={name: as_schema(each) for name, each in schema.get("patternProperties", {}).items()},
    )
    is_free = not layer.named and layer.rest is True and not layer.patterned
    return Piece(
        kind="object",
        low=max(low, len(required)),
        high=high,
        required=required,
        layers=() if is_free else (layer,),
        opaque=_picked(schema, ("propertyNames", "dependentRequired", "dependentSchemas"), root),
    )


def _sizes(schema: JsonObject, what: str) -> tuple[int, int | None]:
    low, high = schema.get(f"min{what}", 0), schema.get(f"max{what}")
    return math.ceil(low), None if high is None else math.floor(high)


_BUILDERS: Final = MappingProxyType(
    {
        "null": lambda _schema, _root: Piece(kind="null", literals=(None,)),
        "boolean": lambda _schema, _root: Piece(kind="boolean", literals=(False, True)),
        "number": _number,
        "string": _string,
        "array": _array,
        "object": _object,
    }
)
