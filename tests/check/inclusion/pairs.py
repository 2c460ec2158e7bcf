"""Pairs of schemas with the expected inclusion results in both directions.

Each row: a name, the left schema, the right schema, whether every value of the left is a value of the right, and whether
every value of the right is a value of the left.
"""

from __future__ import annotations

from typing import Any, Final

Y, N, U = "included", "not included", "undecided"


def obj(_required: list[str] | None = None, /, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema if _required is None else {**schema, "required": _required}


def closed(_required: list[str] | None = None, /, **properties: Any) -> dict[str, Any]:
    return {**obj(_required, **properties), "additionalProperties": False}


STR: Final = {"type": "string"}
INT: Final = {"type": "integer"}
NUM: Final = {"type": "number"}
NULL: Final = {"type": "null"}
BOOL: Final = {"type": "boolean"}
ARR: Final = {"type": "array"}


def s(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def i(**more: Any) -> dict[str, Any]:
    return {"type": "integer", **more}


def n(**more: Any) -> dict[str, Any]:
    return {"type": "number", **more}


def a(**more: Any) -> dict[str, Any]:
    return {"type": "array", **more}


def tree(value: dict[str, Any], **more: Any) -> dict[str, Any]:
    node = closed(None, value=value, children=a(items={"$ref": "#/$defs/node"}, **more))
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


def shape(kind: str, **properties: Any) -> dict[str, Any]:
    return closed(["kind", *properties], kind={"const": kind}, **properties)


DRAFT7: Final = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT4: Final = {"$schema": "http://json-schema.org/draft-04/schema#"}

PAIRS: Final[tuple[tuple[str, dict[str, Any], dict[str, Any], str, str], ...]] = (
    # types
    ("equal", STR, STR, Y, Y),
    ("anything and something", {}, STR, N, Y),
    ("integer and number", INT, NUM, Y, N),
    ("string and integer", STR, INT, N, N),
    ("nullable added", STR, {"type": ["string", "null"]}, Y, N),
    ("order of types", {"type": ["string", "null"]}, {"type": ["null", "string"]}, Y, Y),
    ("type list and anyOf", {"type": ["string", "null"]}, {"anyOf": [STR, NULL]}, Y, Y),
    ("number and integer list", {"type": ["integer", "number"]}, NUM, Y, Y),
    ("all types named", {"type": ["null", "boolean", "number", "string", "array", "object"]}, {}, Y, Y),
    ("boolean and its values", BOOL, {"enum": [True, False]}, Y, Y),
    ("null and const null", NULL, {"const": None}, Y, Y),
    ("description changes nothing", STR, s(description="words", title="t", examples=["x"]), Y, Y),
    ("default changes nothing", INT, i(default=3), Y, Y),
    ("unknown keywords change nothing", INT, i(**{"x-order": 1}), Y, Y),
    # listed values
    ("value added", {"enum": ["a"]}, {"enum": ["a", "b"]}, Y, N),
    ("values exchanged", {"enum": ["a", "b"]}, {"enum": ["b", "c"]}, N, N),
    ("order of values", {"enum": ["a", "b"]}, {"enum": ["b", "a"]}, Y, Y),
    ("const and enum", {"const": 1}, {"enum": [1]}, Y, Y),
    ("whole float", {"enum": [1.0]}, {"enum": [1]}, Y, Y),
    ("true is not one", {"enum": [True]}, {"enum": [1]}, N, N),
    ("nested true is not one", {"const": [True]}, {"const": [1]}, N, N),
    ("listed and typed", s(enum=["a", "b"]), STR, Y, N),
    ("listed of another type", {"enum": ["a", 1]}, STR, N, N),
    ("listed within length", {"enum": ["aa", "bb"]}, s(maxLength=2), Y, N),
    ("listed beyond length", {"enum": ["aa", "bbb"]}, s(maxLength=2), N, N),
    ("listed within bounds", {"enum": [1, 2]}, i(minimum=1, maximum=2), Y, Y),
    ("listed and pattern that matches", {"enum": ["ab", "ac"]}, s(pattern="^a"), Y, N),
    ("listed and pattern that does not", {"enum": ["ab", "bc"]}, s(pattern="^a"), N, N),
    ("large integers differ", {"const": 9007199254740993}, {"const": 9007199254740992}, N, N),
    ("listed objects", {"const": {"a": 1, "b": 2}}, {"const": {"b": 2, "a": 1}}, Y, Y),
    ("listed object and shape", {"const": {"a": 1}}, closed(["a"], a=INT), Y, N),
    ("impossible values fall away", s(enum=["a", 1]), {"const": "a"}, Y, Y),
    # numbers
    ("maximum raised", i(maximum=10), i(maximum=20), Y, N),
    ("maximum added", INT, i(maximum=20), N, Y),
    ("minimum lowered", i(minimum=10), i(minimum=5), Y, N),
    ("bounds moved", i(minimum=0, maximum=5), i(minimum=3, maximum=9), N, N),
    ("exclusive and inclusive", n(exclusiveMinimum=0), n(minimum=0), Y, N),
    ("exclusive integers", i(exclusiveMinimum=0), i(minimum=1), Y, Y),
    ("exclusive upper integers", i(exclusiveMaximum=10), i(maximum=9), Y, Y),
    ("fraction bound of integers", i(minimum=0.5), i(minimum=1), Y, Y),
    ("multiples", n(multipleOf=4), n(multipleOf=2), Y, N),
    ("multiples apart", n(multipleOf=3), n(multipleOf=2), N, N),
    ("integer and multiple of one", INT, n(multipleOf=1), Y, Y),
    ("decimal multiples", n(multipleOf=0.1), n(multipleOf=0.01), Y, N),
    ("intervals together", i(minimum=0, maximum=9), {"anyOf": [i(minimum=0, maximum=4), i(minimum=5, maximum=9)]}, Y, Y),
    ("intervals with a hole", i(minimum=0, maximum=9), {"anyOf": [i(minimum=0, maximum=4), i(minimum=6, maximum=9)]}, N, Y),
    ("number of one value", n(minimum=1, maximum=1), {"const": 1}, Y, Y),
    # strings
    ("longer allowed", s(maxLength=10), s(maxLength=20), Y, N),
    ("length added", STR, s(maxLength=20), N, Y),
    ("empty refused", STR, s(minLength=1), N, Y),
    ("lengths moved", s(minLength=1, maxLength=3), s(minLength=2, maxLength=4), N, N),
    ("long bound", s(maxLength=4096), s(maxLength=4000), N, Y),
    ("pattern added", STR, s(pattern="^file:"), N, Y),
    ("pattern equal", s(pattern="^a", maxLength=3), s(pattern="^a"), Y, N),
    ("patterns apart", s(pattern="^a"), s(pattern="^b"), N, N),
    ("pattern widened", s(pattern="^a$"), s(pattern="^(a|b)$"), Y, N),
    ("pattern rewritten", s(pattern="^[0-9]$"), s(pattern="^\\d$"), Y, Y),
    ("format added", STR, s(format="date"), N, Y),
    ("formats apart", s(format="date"), s(format="email"), N, N),
    ("format equal", s(format="uuid", maxLength=36), s(format="uuid"), Y, Y),
    # arrays
    ("items narrowed", a(items=STR), a(items=s(maxLength=3)), N, Y),
    ("items widened", a(items=INT), a(items=NUM), Y, N),
    ("untyped items", ARR, a(items=STR), N, Y),
    ("more items", a(maxItems=3), a(maxItems=5), Y, N),
    ("items demanded", ARR, a(minItems=1), N, Y),
    ("unique", ARR, a(uniqueItems=True), N, Y),
    ("unique of at most one", a(maxItems=1), a(maxItems=1, uniqueItems=True), Y, Y),
    ("tuple and list", a(prefixItems=[STR, INT], items=False, minItems=2), a(items={"type": ["string", "integer"]}), Y, N),
    ("tuple member widened", a(prefixItems=[STR, INT]), a(prefixItems=[STR, NUM]), Y, N),
    ("tuple shortened", a(prefixItems=[STR, INT]), a(prefixItems=[STR]), Y, N),
    ("items irrelevant when empty", a(maxItems=0, items=STR), a(maxItems=0, items=INT), Y, Y),
    ("nested items", a(items=a(items=i(maximum=5))), a(items=a(items=i(maximum=6))), Y, N),
    ("contains", ARR, a(contains=STR), N, Y),
    ("contains equal", a(contains=STR, maxItems=3), a(contains=STR), Y, N),
    # objects
    ("optional property added, open", obj(a=STR), obj(a=STR, b=STR), N, Y),
    ("optional property added, closed", closed(a=STR), closed(a=STR, b=STR), Y, N),
    ("closing", obj(a=STR), closed(a=STR), N, Y),
    ("required added", obj(a=STR), obj(["a"], a=STR), N, Y),
    ("required without property", obj(), {"type": "object", "required": ["a"]}, N, Y),
    ("required order", obj(["a", "b"], a=STR, b=STR), obj(["b", "a"], a=STR, b=STR), Y, Y),
    ("property narrowed", obj(a=STR), obj(a=s(maxLength=1)), N, Y),
    ("property typed", closed(a={}), closed(a=STR), N, Y),
    ("nested property narrowed", closed(a=closed(b=i(maximum=9))), closed(a=closed(b=i(maximum=8))), N, Y),
    ("deeply nested", closed(a=closed(b=closed(c=closed(d=STR)))), closed(a=closed(b=closed(c=closed(d=INT)))), N, N),
    ("free values typed", {"type": "object"}, {"type": "object", "additionalProperties": STR}, N, Y),
    (
        "free values widened",
        {"type": "object", "additionalProperties": INT},
        {"type": "object", "additionalProperties": NUM},
        Y,
        N,
    ),
    ("named against free", closed(a=INT), {"type": "object", "additionalProperties": NUM}, Y, N),
    ("impossible property", obj(a=False), obj(a=False, b=False), N, Y),
    ("members bounded", closed(a=STR, b=STR), {"type": "object", "maxProperties": 2}, Y, N),
    ("members demanded", obj(["a", "b"]), {"type": "object", "minProperties": 2}, Y, N),
    ("members demanded anew", obj(a=STR), {**obj(a=STR), "minProperties": 1}, N, Y),
    ("pattern properties equal", {"patternProperties": {"^x": INT}}, {"patternProperties": {"^x": NUM}}, Y, N),
    ("pattern properties added", {"type": "object"}, {"type": "object", "patternProperties": {"^x": STR}}, N, Y),
    (
        "closed with patterns",
        {**closed(a=STR), "patternProperties": {"^x": STR}},
        {"type": "object", "additionalProperties": STR},
        Y,
        N,
    ),
    ("property names", {"type": "object"}, {"type": "object", "propertyNames": {"maxLength": 3}}, N, Y),
    ("dependent required", obj(a=STR, b=STR), {**obj(a=STR, b=STR), "dependentRequired": {"a": ["b"]}}, N, Y),
    (
        "dependent equal",
        {**closed(a=STR), "dependentRequired": {"a": ["a"]}},
        {**obj(a=STR), "dependentRequired": {"a": ["a"]}},
        Y,
        N,
    ),
    ("no values against no values", closed(["a"], a=False), closed(["b"], b=False), Y, Y),
    # combinations
    ("anyOf widened", {"anyOf": [STR, INT]}, {"anyOf": [STR, INT, NULL]}, Y, N),
    ("anyOf order", {"anyOf": [STR, INT]}, {"anyOf": [INT, STR]}, Y, Y),
    ("anyOf of one", {"anyOf": [STR]}, STR, Y, Y),
    ("allOf of parts", {"allOf": [i(minimum=1), i(maximum=5)]}, i(minimum=1, maximum=5), Y, Y),
    ("allOf dropped", {"allOf": [STR, s(maxLength=4)]}, STR, Y, N),
    ("allOf of objects", {"allOf": [obj(["a"], a=STR), obj(["b"], b=INT)]}, obj(["a", "b"], a=STR, b=INT), Y, Y),
    ("allOf that closes", {"allOf": [closed(a=STR), obj(b=INT)]}, closed(a=STR), Y, Y),
    ("allOf that is empty", {"allOf": [STR, INT]}, {"enum": ["x"]}, Y, N),
    ("oneOf of types", {"oneOf": [STR, INT]}, {"anyOf": [STR, INT]}, Y, Y),
    ("oneOf that overlaps", {"oneOf": [s(maxLength=5), s(minLength=3)]}, STR, Y, N),
    (
        "anyOf into overlapping oneOf",
        {"anyOf": [s(maxLength=5), s(minLength=3)]},
        {"oneOf": [s(maxLength=5), s(minLength=3)]},
        N,
        Y,
    ),
    (
        "oneOf by kind",
        {"oneOf": [shape("x", a=STR), shape("y", b=INT)]},
        {"anyOf": [shape("x", a=STR), shape("y", b=INT)]},
        Y,
        Y,
    ),
    ("oneOf gets a kind", {"oneOf": [shape("x", a=STR)]}, {"oneOf": [shape("x", a=STR), shape("y", b=INT)]}, Y, N),
    (
        "oneOf kind narrowed",
        {"oneOf": [shape("x", a=STR), shape("y", b=INT)]},
        {"oneOf": [shape("x", a=STR), shape("y", b=i(minimum=0))]},
        N,
        Y,
    ),
    (
        "kinds split",
        closed(["k"], k={"enum": ["x", "y"]}),
        {"oneOf": [closed(["k"], k={"const": "x"}), closed(["k"], k={"const": "y"})]},
        Y,
        Y,
    ),
    ("not added", INT, {"type": "integer", "not": {"const": 0}}, N, Y),
    ("not equal", i(minimum=1, **{"not": {"const": 5}}), {"type": "integer", "not": {"const": 5}}, Y, N),
    ("if added", obj(a=STR, b=STR), {**obj(a=STR, b=STR), "if": {"required": ["a"]}, "then": {"required": ["b"]}}, N, Y),
    (
        "if equal",
        {**closed(a=STR), "if": {"required": ["a"]}, "then": {"minProperties": 1}},
        {**obj(a=STR), "if": {"required": ["a"]}, "then": {"minProperties": 1}},
        Y,
        N,
    ),
    ("true and false", {"properties": {"a": True}}, {}, Y, Y),
    ("unevaluated added", obj(a=STR), {**obj(a=STR), "unevaluatedProperties": False}, N, Y),
    # references
    ("reference and its target", {"$ref": "#/$defs/s", "$defs": {"s": STR}}, STR, Y, Y),
    (
        "reference narrowed",
        {"$ref": "#/$defs/s", "$defs": {"s": STR}},
        {"$ref": "#/$defs/s", "$defs": {"s": s(maxLength=1)}},
        N,
        Y,
    ),
    ("definition renamed", {"$ref": "#/$defs/s", "$defs": {"s": STR}}, {"$ref": "#/$defs/t", "$defs": {"t": STR}}, Y, Y),
    ("unused definition", STR, {**STR, "$defs": {"x": INT}}, Y, Y),
    ("reference with siblings", {"$ref": "#/$defs/s", "maxLength": 3, "$defs": {"s": STR}}, s(maxLength=3), Y, Y),
    ("recursive equal", tree(INT), tree(INT), Y, Y),
    ("recursive widened", tree(INT), tree(NUM), Y, N),
    ("recursive narrowed", tree(INT), tree(INT, maxItems=2), N, Y),
    ("recursive unrolled", tree(INT), closed(value=INT, children=a(items={"$ref": "#"})), Y, Y),
    (
        "clause with a reference",
        {"not": {"$ref": "#/$defs/s"}, "$defs": {"s": STR}},
        {"not": {"$ref": "#/$defs/s"}, "$defs": {"s": INT}},
        N,
        N,
    ),
    ("escaped pointer", {"$ref": "#/$defs/a~1b", "$defs": {"a/b": STR}}, STR, Y, Y),
    # dialects
    (
        "draft-07 reference ignores siblings",
        {**DRAFT7, "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}}, "definitions": {"s": STR}},
        {**DRAFT7, "properties": {"a": STR}},
        Y,
        Y,
    ),
    ("draft-07 and 2020-12", {**DRAFT7, **closed(["a"], a=i(minimum=0))}, closed(["a"], a=i(minimum=0)), Y, Y),
    (
        "draft-07 list of items",
        {**DRAFT7, **a(items=[STR, INT], additionalItems=False)},
        a(prefixItems=[STR, INT], items=False),
        Y,
        Y,
    ),
    ("draft-04", {**DRAFT4, **obj(a=STR)}, obj(a=INT), N, N),
    ("draft-04 exclusive bound", {**DRAFT4, **i(minimum=0, exclusiveMinimum=True)}, i(minimum=1), Y, Y),
    ("draft-04 has no const", {**DRAFT4, "const": 1}, {}, Y, Y),
    ("patterns and lengths", s(pattern="^[a-z]{2,4}$"), s(pattern="^[a-z]+$", minLength=2, maxLength=4), Y, Y),
    ("pattern alternatives", s(pattern="^(a|b)$"), {"anyOf": [s(pattern="^a$"), s(pattern="^b$")]}, Y, Y),
    ("pattern and listed strings", s(pattern="^(a|b)$"), {"enum": ["a", "b"]}, Y, Y),
    ("pattern that matches nothing", s(pattern="^a{3}$", maxLength=2), {"enum": ["x"]}, Y, N),
    ("not of another type", STR, {"not": INT}, Y, N),
    ("not and an anchored pattern", s(pattern="^b"), {"not": s(pattern="^a")}, Y, N),
    ("if that never applies", closed(a=STR), {**obj(a=STR), "if": {"required": ["b"]}, "then": {"required": ["c"]}}, Y, N),
    (
        "dependency that always holds",
        obj(["b"], a=STR, b=STR),
        {**obj(a=STR, b=STR), "dependentRequired": {"a": ["b"]}},
        Y,
        N,
    ),
    ("names of a closed object", closed(a=STR, b=STR), {"type": "object", "propertyNames": {"maxLength": 1}}, Y, N),
    ("every item is contained", a(items=STR, minItems=1), a(contains=STR), Y, N),
    ("unknown dialect", {"$schema": "https://example.org/d", "type": "string"}, STR, U, U),
    ("invalid schema", {"type": "strnig"}, STR, U, U),
    # real changes
    (
        "limit added to a search",
        closed(["query"], query=s(maxLength=512)),
        closed(["query"], query=s(maxLength=512), limit=i(minimum=1, maximum=200)),
        Y,
        N,
    ),
    ("argument renamed", closed(["path"], path=STR), closed(["uri"], uri=STR), N, N),
    ("single or list", closed(["id"], id=STR), closed(["id"], id={"anyOf": [STR, a(items=STR)]}), Y, N),
    (
        "output gets nullable cursor",
        closed(["items", "next"], items=a(items=STR), next=STR),
        closed(["items", "next"], items=a(items=STR), next={"type": ["string", "null"]}),
        Y,
        N,
    ),
    (
        "output list capped",
        closed(["items"], items=a(items=STR, maxItems=100)),
        closed(["items"], items=a(items=STR, maxItems=200)),
        Y,
        N,
    ),
    ("enum opened", closed(mode={"enum": ["r", "w"]}), closed(mode=STR), Y, N),
)
