"""An upstream whose schemas are expensive to compile or to check, or make no sense."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.abuse.arena import Arena, Attack, bearer, call
from tests.fixtures.live import modern

KEYWORDS = (
    "type", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const",
    "minimum", "maxLength", "pattern", "format", "uniqueItems", "additionalProperties", "patternProperties", "required",
    "dependentSchemas", "unevaluatedProperties", "contains", "minContains", "propertyNames", "$ref", "$defs", "$id",
    "$dynamicRef", "$schema", "multipleOf",
)  # fmt: skip
VALUES = (
    True, False, None, 0, -1, 1.5, 10**400, 1e-320, "", "string", "object", "#", "#/properties/x", "#/$defs/a", "http://x.invalid/",
    "(a+)+$", "(?=a)b", "[", "date-time", "\x00", [], ["x"], ["x", "x"], {}, {"x": True}, {"a": False},
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool with a hostile schema, and arguments for it."""

    schema: Any
    arguments: Any
    output: Any = None


def doubling(random: Random) -> Offer:
    """A small schema that doubles with each level: it is checked 2^n times."""
    word, levels = random.choice(["anyOf", "allOf", "oneOf"]), random.choice([22, 40])
    defs: Any = {f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    defs[f"d{levels}"] = {"type": "string"}
    return Offer(schema={"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}, arguments={"x": 1})


def wide_enum(random: Random) -> Offer:
    values = [random.random() for _ in range(80_000)]
    return Offer(schema={"type": "object", "properties": {"x": {"enum": values}}}, arguments={"x": 2})


def wide_union(random: Random) -> Offer:
    word = random.choice(["oneOf", "anyOf"])
    branches = [{"const": f"b{n}"} for n in range(30_000)]
    return Offer(schema={"type": "object", "properties": {"x": {word: branches}}}, arguments={"x": ["no"] * 100})


def pattern(random: Random) -> Offer:
    """A pattern on which a backtracking engine takes exponential time."""
    text = random.choice(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^([a-z]+)*$", "(.*)*x", "(a{1,90}){1,90}b", "(?<=a+)b"])
    return Offer(schema={"type": "object", "properties": {"x": {"pattern": text}}}, arguments={"x": "a" * 40 + "!"})


def recursive(random: Random) -> Offer:
    """A schema that refers to itself, without an end."""
    loop = random.choice([
        {"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, {"allOf": [{"$ref": "#"}]},
        {"$dynamicRef": "#x", "$dynamicAnchor": "x"}, {"properties": {"x": {"$ref": "#"}}},
        {"$ref": "#/$defs/p", "$defs": {"p": False}},
    ])  # fmt: skip
    value: Any = {}
    for _ in range(100):
        value = {"x": value}
    return Offer(schema={"type": "object", **loop}, arguments=value, output={"type": "object", **loop})


def deep(random: Random) -> Offer:
    schema: Any = {"type": "integer"}
    for _ in range(random.choice([60, 100, 120])):
        schema = random.choice([{"properties": {"a": schema}}, {"items": schema}, {"not": schema}, {"anyOf": [schema]}])
    return Offer(schema={"type": "object", "properties": {"x": schema}}, arguments={"x": [[1]]})


def unique(random: Random) -> Offer:
    """Arguments that a quadratic check of uniqueItems compares pair by pair."""
    values = [[{"a": number}] for number in range(random.choice([2000, 8000]))]
    return Offer(schema={"type": "object", "properties": {"x": {"uniqueItems": True}}}, arguments={"x": values})


def nonsense(random: Random) -> Offer:
    """Random keywords with random values."""

    def schema(depth: int) -> Any:
        if depth == 0:
            return random.choice(VALUES)
        names = random.sample(KEYWORDS, random.randint(1, 6))
        return {name: random.choice([schema(depth - 1), {"x": schema(depth - 1)}, [schema(depth - 1)]]) for name in names}

    arguments = {"x": random.choice(VALUES), "a": [random.choice(VALUES)]}
    return Offer(schema={"type": "object", **schema(3)}, arguments=json.loads(json.dumps(arguments)), output=schema(3))


def check(case: Offer, arena: Arena) -> None:
    """List and call are answered, and no answer is a fault of the guard."""
    guard = arena.guard
    tool = {"name": "act", "inputSchema": case.schema, "outputSchema": case.output}
    listing = modern(1, "tools/list")
    arena.script.write_text(json.dumps({"tools": [{name: value for name, value in tool.items() if value is not None}]}))
    try:
        answers = [guard.post(body, bearer(body)).body for body in (listing, call("bad_act", **case.arguments))]
    finally:
        arena.script.write_text("{}")
    answers.append(guard.post(listing, bearer(listing)).body)  # the guard keeps the list that it showed last

    assert all(b'"result"' in answer or b'"error"' in answer for answer in answers)
    assert not any(b'"INTERNAL"' in answer for answer in answers), answers
    arena.check_alive(guard)


ATTACK = Attack(
    name="schemas",
    kinds={
        "doubling": doubling,
        "wide_enum": wide_enum,
        "wide_union": wide_union,
        "pattern": pattern,
        "recursive": recursive,
        "deep": deep,
        "unique": unique,
        "nonsense": nonsense,
    },
    check=check,
    lengthy=frozenset({"wide_enum"}),
    exceeding=frozenset({"doubling", "wide_union"}),
)
