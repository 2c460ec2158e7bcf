"""Hand-made changes of a schema, with the verdicts of both semantics on both sides.

Each row: a name, the old schema, the new schema, and four sets of rules: for the change of an input under `declared` and
`exact`, and for the change of an output under `declared` and `exact`. A verdict is the rules that fail, without their prefix
`INPUT_` or `OUTPUT_`; an empty string is a compatible change.
"""

from __future__ import annotations

from typing import Any, Final

S: Final = {"type": "string"}
N: Final = {"type": "integer"}
B: Final = {"type": "boolean"}
NULLABLE: Final = {"type": ["string", "null"]}
DRAFT7: Final = {"$schema": "http://json-schema.org/draft-07/schema#"}


def obj(_required: str = "", /, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": _required.split()} if _required else schema


def closed(_required: str = "", /, **properties: Any) -> dict[str, Any]:
    return {**obj(_required, **properties), "additionalProperties": False}


def s(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def i(**more: Any) -> dict[str, Any]:
    return {"type": "integer", **more}


def a(items: Any = S, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def one(schema: Any) -> dict[str, Any]:
    """An open object with the one property `a`."""
    return obj(a=schema)


def kind(name: str, **more: Any) -> dict[str, Any]:
    return closed("kind " + " ".join(more), kind={"const": name}, **more)


def tree(value: Any, **more: Any) -> dict[str, Any]:
    node = obj(value=value, children=a({"$ref": "#/$defs/node"}, **more))
    return {"type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}


def ref(schema: Any, name: str = "x") -> dict[str, Any]:
    return {**one({"$ref": f"#/$defs/{name}"}), "$defs": {name: schema}}


MAP: Final = {"type": "object"}

CHANGES: Final[tuple[tuple[str, Any, Any, str, str, str, str], ...]] = (
    # declared properties: open and closed
    ("optional added, open", obj(a=S), obj(a=S, b=S), "", "ACCEPTS_AS_BEFORE", "", ""),
    ("optional added, closed", closed(a=S), closed(a=S, b=S), "", "", "", "MEMBERS"),
    ("optional removed, open", obj(a=S, b=S), obj(a=S), "ARGUMENT_KEPT", "", "RESULT_KEPT", "GIVES_AS_BEFORE"),
    ("optional removed, closed", closed(a=S, b=S), closed(a=S), "ARGUMENT_KEPT", "ARGUMENT_KEPT", "RESULT_KEPT", ""),
    ("required added", obj(a=S), obj("b", a=S, b=S), "OPTIONAL", "OPTIONAL", "", ""),
    ("required removed, open", obj("b", a=S, b=S), obj(a=S), "ARGUMENT_KEPT", "", "RESULT_KEPT", "REQUIRED"),
    (
        "required removed, closed",
        closed("b", a=S, b=S),
        closed(a=S),
        "ARGUMENT_KEPT",
        "ARGUMENT_KEPT",
        "RESULT_KEPT",
        "REQUIRED",
    ),
    ("optional becomes required", obj(a=S), obj("a", a=S), "OPTIONAL", "OPTIONAL", "", ""),
    ("required becomes optional", obj("a", a=S), obj(a=S), "", "", "REQUIRED", "REQUIRED"),
    ("closing", obj(a=S), closed(a=S), "", "OPEN", "", ""),
    ("opening", closed(a=S), obj(a=S), "", "", "", "MEMBERS"),
    ("all removed", obj("a", a=S), MAP, "ARGUMENT_KEPT", "", "REQUIRED", "REQUIRED"),
    ("explicitly open", obj(a=S), {**obj(a=S), "additionalProperties": True}, "", "", "", ""),
    (
        "removed, explicitly open",
        obj(a=S, b=S),
        {**obj(a=S), "additionalProperties": True},
        "ARGUMENT_KEPT",
        "",
        "RESULT_KEPT",
        "GIVES_AS_BEFORE",
    ),
    ("first argument", {"type": "object"}, obj(a=S), "", "ACCEPTS_AS_BEFORE", "", ""),
    ("nested optional added", one(obj(x=S)), one(obj(x=S, y=S)), "", "ACCEPTS_AS_BEFORE", "", ""),
    ("nested removed", one(obj(x=S, y=S)), one(obj(x=S)), "ARGUMENT_KEPT", "", "RESULT_KEPT", "GIVES_AS_BEFORE"),
    (
        "nested removed in items",
        one(a(obj(x=S, y=S))),
        one(a(obj(x=S))),
        "ARGUMENT_KEPT",
        "",
        "RESULT_KEPT",
        "GIVES_AS_BEFORE",
    ),
    ("nested becomes a free map", one(obj(x=S)), one(MAP), "", "", "GIVES_AS_BEFORE", "GIVES_AS_BEFORE"),
    ("order of properties", obj(a=S, b=N), obj(b=N, a=S), "", "", "", ""),
    ("typed map to closed", {"type": "object", "additionalProperties": S}, closed(a=S), "OPEN", "OPEN", "", ""),
    (
        "removed and another added",
        obj(a=S, b=N),
        obj(a=S, c=a()),
        "ARGUMENT_KEPT",
        "ACCEPTS_AS_BEFORE",
        "RESULT_KEPT",
        "GIVES_AS_BEFORE",
    ),
    # renames
    (
        "renamed, open",
        obj("path", path=S),
        obj("uri", uri=S),
        "ARGUMENT_NAME_KEPT",
        "OPTIONAL",
        "RESULT_NAME_KEPT",
        "REQUIRED",
    ),
    (
        "renamed, closed",
        closed("path", path=S),
        closed("uri", uri=S),
        "ARGUMENT_NAME_KEPT",
        "ARGUMENT_NAME_KEPT OPTIONAL",
        "RESULT_NAME_KEPT",
        "MEMBERS REQUIRED",
    ),
    (
        "renamed by case",
        obj(file_path=S, q=S),
        obj(filePath=S, q=S),
        "ARGUMENT_NAME_KEPT",
        "ACCEPTS_AS_BEFORE",
        "RESULT_NAME_KEPT",
        "GIVES_AS_BEFORE",
    ),
    (
        "renamed nested",
        one(obj(start_line=N)),
        one(obj(startLine=N)),
        "ARGUMENT_NAME_KEPT",
        "ACCEPTS_AS_BEFORE",
        "RESULT_NAME_KEPT",
        "GIVES_AS_BEFORE",
    ),
    (
        "renamed by description",
        obj(q=s(description="What to find."), n=N, m=N),
        obj(query=s(description="What to find."), n=N, m=N),
        "ARGUMENT_NAME_KEPT",
        "ACCEPTS_AS_BEFORE",
        "RESULT_NAME_KEPT",
        "GIVES_AS_BEFORE",
    ),
    (
        "replaced by another type",
        obj(path=S),
        obj(count=N),
        "ARGUMENT_KEPT",
        "ACCEPTS_AS_BEFORE",
        "RESULT_KEPT",
        "GIVES_AS_BEFORE",
    ),
    # defaults
    ("default changed", one({**B, "default": False}), one({**B, "default": True}), "DEFAULT_KEPT", "DEFAULT_KEPT", "", ""),
    ("default removed", one({**B, "default": False}), one(B), "DEFAULT_KEPT", "DEFAULT_KEPT", "", ""),
    ("default added", one(B), one({**B, "default": False}), "", "", "", ""),
    ("default of a required argument", obj("a", a={**N, "default": 1}), obj("a", a={**N, "default": 2}), "", "", "", ""),
    ("default written differently", one({**N, "default": 1}), one({**N, "default": 1.0}), "", "", "", ""),
    (
        "nested default",
        one(obj(x={**N, "default": 1})),
        one(obj(x={**N, "default": 2})),
        "DEFAULT_KEPT",
        "DEFAULT_KEPT",
        "",
        "",
    ),
    # types
    ("type changed", one(S), one(N), "TYPE", "TYPE", "TYPE", "TYPE"),
    ("integer to number", one(N), one({"type": "number"}), "", "", "TYPE", "TYPE"),
    ("number to integer", one({"type": "number"}), one(N), "TYPE", "TYPE", "", ""),
    ("null added", one(S), one(NULLABLE), "", "", "TYPE", "TYPE"),
    ("null removed", one(NULLABLE), one(S), "TYPE", "TYPE", "", ""),
    ("type removed", one(S), one({}), "", "", "TYPE", "TYPE"),
    ("type added", one({}), one(S), "TYPE", "TYPE", "", ""),
    ("type list and anyOf", one(NULLABLE), one({"anyOf": [S, {"type": "null"}]}), "", "", "", ""),
    ("single to list", one(S), one({"anyOf": [S, a()]}), "", "", "GIVES_AS_BEFORE", "GIVES_AS_BEFORE"),
    ("true to false schema", one(True), one(False), "ACCEPTS_AS_BEFORE", "ACCEPTS_AS_BEFORE", "", ""),
    # enum and const
    ("value added", one({"enum": ["r"]}), one({"enum": ["r", "w"]}), "", "", "VALUES", "VALUES"),
    ("value removed", one({"enum": ["r", "w"]}), one({"enum": ["r"]}), "VALUES", "VALUES", "", ""),
    ("enum dropped", one(s(enum=["r"])), one(S), "", "", "VALUES", "VALUES"),
    ("enum set", one(S), one(s(enum=["r"])), "VALUES", "VALUES", "", ""),
    ("const to enum", one({"const": 1}), one({"enum": [1]}), "", "", "", ""),
    ("const changed", one({"const": 1}), one({"const": 2}), "VALUES", "VALUES", "VALUES", "VALUES"),
    ("order of values", one({"enum": [1, 2]}), one({"enum": [2, 1]}), "", "", "", ""),
    # numbers
    ("maximum lowered", one(i(maximum=200)), one(i(maximum=100)), "BOUNDS", "BOUNDS", "", ""),
    ("maximum raised", one(i(maximum=100)), one(i(maximum=200)), "", "", "BOUNDS", "BOUNDS"),
    ("minimum raised", one(i(minimum=0)), one(i(minimum=1)), "BOUNDS", "BOUNDS", "", ""),
    ("minimum as exclusive", one(i(minimum=1)), one(i(exclusiveMinimum=0)), "", "", "", ""),
    (
        "exclusive maximum",
        one({"type": "number", "maximum": 1}),
        one({"type": "number", "exclusiveMaximum": 1}),
        "BOUNDS",
        "BOUNDS",
        "",
        "",
    ),
    ("multiple added", one(N), one(i(multipleOf=5)), "BOUNDS", "BOUNDS", "", ""),
    ("multiple of a multiple", one(i(multipleOf=10)), one(i(multipleOf=5)), "", "", "BOUNDS", "BOUNDS"),
    ("bound out of reach", one(i(minimum=5)), one(i(minimum=5, maximum=10**9)), "BOUNDS", "BOUNDS", "", ""),
    # strings
    ("shorter", one(s(maxLength=20)), one(s(maxLength=10)), "BOUNDS", "BOUNDS", "", ""),
    ("empty excluded", one(S), one(s(minLength=1)), "BOUNDS", "BOUNDS", "", ""),
    ("long bound lowered", one(s(maxLength=4096)), one(s(maxLength=4000)), "BOUNDS", "BOUNDS", "", ""),
    ("pattern added", one(S), one(s(pattern="^file:")), "PATTERNS", "PATTERNS", "", ""),
    ("pattern rewritten", one(s(pattern=r"^\d+$")), one(s(pattern="^[0-9]+$")), "", "", "", ""),
    ("pattern widened", one(s(pattern="^a$")), one(s(pattern="^(a|b)$")), "", "", "PATTERNS", "PATTERNS"),
    ("pattern narrowed", one(s(pattern="^[a-z]+$")), one(s(pattern="^[a-y]+$")), "PATTERNS", "PATTERNS", "", ""),
    (
        "pattern with length",
        one(s(pattern="^[a-z]{2,4}$")),
        one(s(minLength=2, maxLength=4)),
        "",
        "",
        "PATTERNS",
        "PATTERNS",
    ),
    ("pattern split", one(s(pattern="^(a|b)$")), one({"anyOf": [s(pattern="^a$"), s(pattern="^b$")]}), "", "", "", ""),
    ("pattern unanchored", one(s(pattern="^ab")), one(s(pattern="ab")), "", "", "PATTERNS", "PATTERNS"),
    ("pattern in a list", one(a(s(pattern="^a"))), one(a(s(pattern="^ab"))), "PATTERNS", "PATTERNS", "", ""),
    ("optional group", one(s(pattern="^v?[0-9]+$")), one(s(pattern="^v[0-9]+$")), "PATTERNS", "PATTERNS", "", ""),
    ("format added", one(S), one(s(format="date")), "PATTERNS", "PATTERNS", "", ""),
    ("format removed", one(s(format="date")), one(S), "", "", "PATTERNS", "PATTERNS"),
    ("format to its pattern", one(s(format="uuid")), one(s(pattern="^[0-9a-fA-F-]{36}$")), "", "", "PATTERNS", "PATTERNS"),
    # arrays
    ("items narrowed", one(a(S)), one(a(s(maxLength=3))), "BOUNDS", "BOUNDS", "", ""),
    ("fewer items", one(a(maxItems=10)), one(a(maxItems=5)), "BOUNDS", "BOUNDS", "", ""),
    ("items demanded", one(a()), one(a(minItems=1)), "BOUNDS", "BOUNDS", "", ""),
    ("unique", one(a()), one(a(uniqueItems=True)), "BOUNDS", "BOUNDS", "", ""),
    ("items typed", one({"type": "array"}), one(a()), "ACCEPTS_AS_BEFORE", "ACCEPTS_AS_BEFORE", "", ""),
    (
        "tuple shortened",
        one({"type": "array", "prefixItems": [S, N]}),
        one({"type": "array", "prefixItems": [S]}),
        "",
        "",
        "GIVES_AS_BEFORE",
        "GIVES_AS_BEFORE",
    ),
    (
        "tuple member changed",
        one({"type": "array", "prefixItems": [S, N]}),
        one({"type": "array", "prefixItems": [S, S]}),
        "TYPE",
        "TYPE",
        "TYPE",
        "TYPE",
    ),
    ("contains added", one(a()), one(a(contains={"const": "x"})), "ACCEPTS_AS_BEFORE", "ACCEPTS_AS_BEFORE", "", ""),
    (
        "contains satisfied",
        one(a({"const": "x"}, minItems=1)),
        one(a(contains={"const": "x"})),
        "",
        "",
        "GIVES_AS_BEFORE",
        "GIVES_AS_BEFORE",
    ),
    # objects
    (
        "map values typed",
        one(MAP),
        one({**MAP, "additionalProperties": S}),
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    (
        "map values narrowed",
        one({**MAP, "additionalProperties": {"type": "number"}}),
        one({**MAP, "additionalProperties": N}),
        "TYPE",
        "TYPE",
        "",
        "",
    ),
    (
        "names restricted",
        one(MAP),
        one({**MAP, "propertyNames": {"maxLength": 3}}),
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    ("fewer properties", one(MAP), one({**MAP, "maxProperties": 1}), "BOUNDS", "BOUNDS", "", ""),
    ("at least one property", one(MAP), one({**MAP, "minProperties": 1}), "BOUNDS", "BOUNDS", "", ""),
    (
        "dependency added",
        obj(a=S, b=S),
        {**obj(a=S, b=S), "dependentRequired": {"a": ["b"]}},
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    ("dependency that holds", obj("b", a=S, b=S), {**obj("b", a=S, b=S), "dependentRequired": {"a": ["b"]}}, "", "", "", ""),
    (
        "pattern properties narrowed",
        {**MAP, "patternProperties": {"^x": S}},
        {**MAP, "patternProperties": {"^x": s(maxLength=1)}},
        "BOUNDS",
        "BOUNDS",
        "",
        "",
    ),
    ("unevaluated added", obj(a=S), {**obj(a=S), "unevaluatedProperties": False}, "", "ACCEPTS_AS_BEFORE", "", ""),
    # composition
    ("branch added", one({"anyOf": [S]}), one({"anyOf": [S, N]}), "", "", "GIVES_AS_BEFORE", "GIVES_AS_BEFORE"),
    ("branch removed", one({"anyOf": [S, N]}), one({"anyOf": [S]}), "ACCEPTS_AS_BEFORE", "ACCEPTS_AS_BEFORE", "", ""),
    (
        "kind added",
        one({"oneOf": [kind("x", p=S)]}),
        one({"oneOf": [kind("x", p=S), kind("y", q=N)]}),
        "",
        "",
        "GIVES_AS_BEFORE",
        "GIVES_AS_BEFORE",
    ),
    (
        "kind removed",
        one({"oneOf": [kind("x", p=S), kind("y", q=N)]}),
        one({"oneOf": [kind("x", p=S)]}),
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    (
        "kind narrowed",
        one({"oneOf": [kind("x", p=S), kind("y", q=N)]}),
        one({"oneOf": [kind("x", p=S), kind("y", q=i(minimum=0))]}),
        "BOUNDS",
        "BOUNDS",
        "",
        "",
    ),
    ("oneOf to anyOf", one({"oneOf": [S, N]}), one({"anyOf": [S, N]}), "", "", "", ""),
    (
        "overlap excluded",
        one({"anyOf": [s(maxLength=5), s(minLength=3)]}),
        one({"oneOf": [s(maxLength=5), s(minLength=3)]}),
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    ("allOf merged", {"type": "object", "allOf": [obj("a", a=S), obj("b", b=N)]}, obj("a b", a=S, b=N), "", "", "", ""),
    (
        "allOf part removed",
        {"type": "object", "allOf": [obj(a=S), obj(b=N)]},
        {"type": "object", "allOf": [obj(a=S)]},
        "ACCEPTS_AS_BEFORE",
        "",
        "",
        "GIVES_AS_BEFORE",
    ),
    ("not added", one(N), one({**N, "not": {"const": 0}}), "ACCEPTS_AS_BEFORE", "ACCEPTS_AS_BEFORE", "", ""),
    ("not of another type", one(S), one({**S, "not": N}), "", "", "", ""),
    (
        "if added",
        obj(a=S, b=S),
        {**obj(a=S, b=S), "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    (
        "either required",
        obj(a=S, b=S),
        {**obj(a=S, b=S), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "ACCEPTS_AS_BEFORE",
        "ACCEPTS_AS_BEFORE",
        "",
        "",
    ),
    # references and recursion
    ("inlined", ref(S), one(S), "", "", "", ""),
    ("definition renamed", ref(S), ref(S, "y"), "", "", "", ""),
    ("definition narrowed", ref(S), ref(s(maxLength=3)), "BOUNDS", "BOUNDS", "", ""),
    ("recursive value widened", tree(N), tree({"type": "number"}), "", "", "TYPE", "TYPE"),
    ("recursive value narrowed", tree(N), tree(i(minimum=0)), "BOUNDS", "BOUNDS", "", ""),
    ("recursive children bounded", tree(N), tree(N, maxItems=2), "BOUNDS", "BOUNDS", "", ""),
    (
        "recursive property removed",
        tree(N),
        {
            **one(S),
            "properties": {"root": {"$ref": "#/$defs/node"}},
            "$defs": {"node": obj(children=a({"$ref": "#/$defs/node"}))},
        },
        "ARGUMENT_KEPT",
        "",
        "RESULT_KEPT",
        "GIVES_AS_BEFORE",
    ),
    # dialects
    ("dialect named", obj(a=S), {**DRAFT7, **obj(a=S)}, "", "", "", ""),
    (
        "draft-07 tuple",
        {**DRAFT7, **one({"type": "array", "items": [S, N]})},
        one({"type": "array", "prefixItems": [S, N]}),
        "",
        "",
        "",
        "",
    ),
    (
        "draft-04 exclusive",
        {"$schema": "http://json-schema.org/draft-04/schema#", **one(i(minimum=0, exclusiveMinimum=True))},
        one(i(minimum=1)),
        "",
        "",
        "",
        "",
    ),
    # texts
    ("description", one(S), one(s(description="Words.")), "", "", "", ""),
    ("unknown keyword", one(S), one(s(**{"x-order": 1})), "", "", "", ""),
)
