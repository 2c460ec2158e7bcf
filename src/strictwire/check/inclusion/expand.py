"""Converts a schema into its pieces: the meaning of each keyword of JSON Schema, from draft-04 to 2020-12."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.shape import (
    EVERYTHING,
    INTEGER_STEP,
    KINDS,
    MAX_REFS,
    Layer,
    Piece,
    Reading,
    Root,
    Schema,
    UnsupportedSchema,
    as_schema,
    canonical_schema,
    common_values,
    fraction,
    has_reference,
    intersect_unions,
    kind_of,
    member_schema,
    normalize,
    tighter_bound,
)


def expand(schema: Schema, root: Root) -> tuple[Piece, ...]:
    """The pieces of a schema; empty if it accepts nothing. Raises UnsupportedSchema."""
    known = root.expanded.get(id(schema))
    if known is None:
        pieces = _expand(schema, root, 0)
        if root.reading is Reading.DECLARED:
            pieces = tuple(_with_declared_only(piece) for piece in pieces)
        known = root.expanded[id(schema)] = schema, pieces
    return known[1]


def _with_declared_only(piece: Piece) -> Piece:
    """The piece without objects that have undeclared properties. An object that declares none is a free map and stays."""
    names = piece.required | piece.declared | {str(name) for layer in piece.layers for name in layer.named}
    is_map = any(not isinstance(layer.rest, bool) for layer in piece.layers)
    if piece.kind != "object" or is_map or not any(layer.named or layer.rest is False for layer in piece.layers):
        return piece
    patterned = {text: True for layer in piece.layers for text in layer.patterned}
    return replace(piece, layers=(*piece.layers, Layer(named=dict.fromkeys(names, True), rest=False, patterned=patterned)))


_REF_STANDS_ALONE: Final = (jsonschema_rs.Draft4, jsonschema_rs.Draft6, jsonschema_rs.Draft7)
"""Up to draft-07: "All other properties in a "$ref" object MUST be ignored." """

_UNKNOWN: Final[Mapping[int, frozenset[str]]] = MappingProxyType(
    {
        jsonschema_rs.Draft4: frozenset({"const", "contains", "propertyNames", "if", "then", "else"}),
        jsonschema_rs.Draft6: frozenset({"if", "then", "else"}),
    }
)
"""Keywords that a draft does not have and therefore ignores."""


def _expand(schema: Schema, root: Root, depth: int) -> tuple[Piece, ...]:
    if isinstance(schema, bool):
        return EVERYTHING if schema else ()
    if depth > MAX_REFS:
        raise UnsupportedSchema("references form a cycle")
    if ("$id" in schema or "id" in schema) and schema is not root.document and _is_resource(schema, root):
        raise UnsupportedSchema("an embedded resource ($id) changes the meaning of references")
    if "$ref" in schema and root.draft in _REF_STANDS_ALONE:
        return _expand(root.resolve(schema["$ref"]), root, depth + 1)
    if root.draft in _UNKNOWN:
        schema = {name: value for name, value in schema.items() if name not in _UNKNOWN[root.draft]}
    pieces = _own_pieces(schema, root, depth)
    for other in _conjuncts(schema, root, depth):
        pieces = intersect_unions(pieces, other)
    return pieces


def _is_resource(schema: JsonObject, root: Root) -> bool:
    name = "id" if root.draft == jsonschema_rs.Draft4 else "$id"
    return isinstance(schema.get(name), str)


def _conjuncts(schema: JsonObject, root: Root, depth: int) -> Iterable[tuple[Piece, ...]]:
    if "$ref" in schema:
        yield _expand(root.resolve(schema["$ref"]), root, depth + 1)
    for each in schema.get("allOf", ()):
        yield _expand(as_schema(each), root, depth + 1)
    if "anyOf" in schema:
        yield tuple(piece for each in schema["anyOf"] for piece in _expand(as_schema(each), root, depth + 1))
    if "oneOf" in schema:
        yield _one_of(schema["oneOf"], root, depth)


def _one_of(branches: list[Any], root: Root, depth: int) -> tuple[Piece, ...]:
    """Disjoint branches are a plain union; for overlapping ones, each piece also keeps `oneOf` as an opaque clause."""
    expanded = [_expand(as_schema(each), root, depth + 1) for each in branches]
    if _are_disjoint(expanded, root):
        return tuple(piece for pieces in expanded for piece in pieces)
    clause = frozenset({_clause({"oneOf": branches}, root)})
    return tuple(replace(piece, opaque=piece.opaque | clause) for pieces in expanded for piece in pieces)


def _are_disjoint(expanded: list[tuple[Piece, ...]], root: Root) -> bool:
    return all(
        not intersect_unions(one, other) or not any(not _clashes(piece, root) for piece in intersect_unions(one, other))
        for index, one in enumerate(expanded)
        for other in expanded[index + 1 :]
    )


def _clashes(piece: Piece, root: Root) -> bool:
    """Whether a required property has no possible value: two branches with different discriminators."""
    return any(_never(member_schema(piece, name), root) for name in piece.required)


def _never(schema: Schema, root: Root) -> bool:
    try:
        # Follow at most four references: enough for a discriminator, and the check stays cheap on recursive schemas.
        return not _expand(schema, root, MAX_REFS - 4)
    except UnsupportedSchema:
        return False


def _own_pieces(schema: JsonObject, root: Root, depth: int) -> tuple[Piece, ...]:
    """The pieces of this object's own keywords, without `$ref`, `allOf`, `anyOf` and `oneOf`."""
    clauses = frozenset(_clauses(schema, root))
    kinds = _kinds(schema)
    listed = _listed(schema)
    pieces = [_BUILDERS[kind](schema, root) for kind in KINDS if kind in kinds]
    if kinds.get("number") == "integer":
        pieces = [replace(p, multiples=p.multiples | {INTEGER_STEP}) if p.kind == "number" else p for p in pieces]
    if listed is not None:
        pieces = [replace(p, literals=common_values(_of_kind(listed, p.kind), p.literals)) for p in pieces]
    declared = frozenset(_names_in_clauses(schema))
    if clauses or declared:
        pieces = [replace(p, opaque=p.opaque | clauses, declared=p.declared | declared) for p in pieces]
    kept = tuple(each for piece in pieces if (each := normalize(piece)) is not None)
    return _without(kept, schema["not"], root, depth) if "not" in schema else kept


def _without(pieces: tuple[Piece, ...], excluded: Any, root: Root, depth: int) -> tuple[Piece, ...]:
    """Apply `not`: drop the types that are excluded as a whole, and the clause where no value of the type is excluded."""
    try:
        others = _expand(as_schema(excluded), root, depth + 1)
    except UnsupportedSchema:
        return pieces
    clause = frozenset({_clause({"not": excluded}, root)})
    kept = []
    for piece in pieces:
        same = [other for other in others if other.kind == piece.kind]
        if not same:
            kept.append(replace(piece, opaque=piece.opaque - clause))
        elif not any(other in EVERYTHING for other in same):
            kept.append(piece)
    return tuple(kept)


def _names_in_clauses(schema: JsonObject) -> Iterable[str]:
    """Properties that conditional keywords declare."""
    parts = [schema.get(name) for name in ("if", "then", "else")]
    parts += [part for name in ("dependentSchemas", "dependencies") for part in (schema.get(name) or {}).values()]
    for part in parts:
        if isinstance(part, dict):
            yield from part.get("properties", ())
            yield from _names_in_clauses(part)


def _of_kind(values: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    return tuple(value for value in values if kind_of(value) == kind)


def _kinds(schema: JsonObject) -> Mapping[str, str]:
    """The allowed kinds; `number` maps to `integer` if numbers must be integers."""
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
        return common_values((schema["const"],), listed)
    return listed


_CLAUSES: Final = (("not",), ("if", "then", "else"), ("$dynamicRef",), ("$recursiveRef",), ("dependencies",))
"""Keywords for any type that are kept as opaque clauses, in groups that are only meaningful together."""


def _clauses(schema: JsonObject, root: Root) -> Iterable[str]:
    for group in _CLAUSES:
        if group[0] in schema:
            yield _clause({name: schema[name] for name in group if name in schema}, root)
    is_closed_anyway = root.reading is Reading.DECLARED and isinstance(schema.get("unevaluatedProperties"), bool)
    if ("unevaluatedProperties" in schema and not is_closed_anyway) or "unevaluatedItems" in schema:
        # Which properties count as evaluated depends on all keywords beside it.
        yield _clause(schema, root)


def _clause(fragment: JsonObject, root: Root) -> str:
    """The text of an opaque clause. Equal texts must mean the same, so the dialect or the document is part of it."""
    text = canonical_schema(fragment)
    if has_reference(text):
        return f"{text} in {root.draft} {root.text}"
    return text if root.draft == jsonschema_rs.Draft202012 or "pattern" in fragment else f"{text} in {root.draft}"


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
        # In draft-04, exclusiveMinimum is a boolean beside minimum.
        if keyword in schema and not isinstance(schema[keyword], bool):
            beside = schema.get(keyword.replace("m", "exclusiveM", 1))
            value, is_open = tighter_bound(
                getattr(piece, bound),
                getattr(piece, f"{bound}_open"),
                fraction(schema[keyword]),
                keyword.startswith("ex") or beside is True,
                sign=sign,
            )
            piece = replace(piece, **{bound: value, f"{bound}_open": is_open})  # type: ignore[arg-type]
    if "multipleOf" in schema:
        piece = replace(piece, multiples=frozenset({fraction(schema["multipleOf"])}))
    return replace(piece, opaque=_picked(schema, ("format",), root)) if "format" in schema else piece


_TEXT_CLAUSES: Final = ("pattern", "format", "contentEncoding", "contentMediaType")
"""The last two are assertions in draft-07 and annotations in 2020-12; in both, a change is undecided."""


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
    if root.draft != jsonschema_rs.Draft202012:
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
