"""Schemas and values made by chance: mostly schemas that have a program (`contract.judge`), and values that mostly fit."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

NAMES = ["a", "b", "c", "dd", "é", "a b", "type"]
TEXTS = ["", "a", "ab", "abc", "é", "😀", "😀😀", "1", "null"]
WHOLE = [*range(-5, 6), 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 2**70, -(2**63), -(2**70)]
NUMBERS = [*WHOLE, 0.0, -0.0, 1.0, 2.0, 0.5, -0.5, 1.5, 1e22, 1e300, -1e300, 5e-324, float(2**53)]
SCALARS = [None, True, False, *NUMBERS, *TEXTS]
BOUNDS = [-3, -1, 0, 1, 3, 0.0, 0.5, -1.5, 2**53, -(2**53), 2**53 + 1, 2**63, 1e22]
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
DEFINITIONS = {
    "short": {"type": "string", "maxLength": 2},
    "row": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
    "knot": {"type": "object", "properties": {"a": {"$ref": "#/$defs/knot"}}, "additionalProperties": False},
}

HANDLED: list[Any] = [
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
    {"type": "object", "properties": {'a"b': {}}},
    {"type": "object", "properties": {f"p{number}": {} for number in range(80)}, "minProperties": 1},
    {"type": "object", "maxProperties": 1},
    {"type": "object", "additionalProperties": False},
    {"type": "object", "required": ["a"], "additionalProperties": False},
    {"type": "array", "items": False},
    {"enum": [True]},
    {"const": False},
    {"anyOf": [{"type": "string"}, {"type": "string", "maxLength": 1}, {"type": "object"}]},
    {"$ref": "#/$defs/knot"},
    {"anyOf": [{"$ref": "#/$defs/row"}, {"$ref": "#/$defs/knot"}]},
    False,
]
"""Schemas that have a program, beside those of the kinds that are made."""

LEFT_TO_THE_ENGINE: list[Any] = [
    {"type": "string", "pattern": "^a"},
    {"type": "string", "format": "date"},
    {"type": "integer", "multipleOf": 2},
    {"type": "array", "uniqueItems": True},
    {"type": "array", "prefixItems": [{}]},
    {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False},
    {"type": "object", "patternProperties": {"^a": {}}},
    {"properties": {"a": {}}},
    {"type": "string", "minimum": 1},
    {"type": "integer", "required": ["a"]},
    {"type": ["number", "integer"]},
    {"type": "integer", "maximum": 2**63},
    {"type": "integer", "minimum": 0.5},
    {"type": "number", "maximum": 1e300},
    {"type": "number", "minimum": 1, "exclusiveMinimum": 1},
    {"const": 1.0},
    {"const": {"a": 1}},
    {"enum": [2**60]},
    {"enum": ["a"], "maxLength": 1},
    {"oneOf": [{"type": "string"}, {"type": "null"}]},
    {"anyOf": [{"type": "string"}], "type": "string"},
    {"allOf": [{"type": "string"}]},
    {"not": {}},
    {"$ref": "#"},
    {"$ref": "#/$defs/knot", "type": "object"},
    {"$dynamicRef": "#/$defs/knot"},
    {"type": "string", "$id": "x"},
]
"""Schemas that have none."""


class Maker:
    """Makes schemas, mostly of the kinds that have a program, and values that mostly fit them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def document(self) -> dict[str, Any]:
        return {"type": "object", **self._of_object(3), "$defs": DEFINITIONS}

    def schema(self, depth: int) -> Any:
        lead = self.chance.choices(
            ["type", "types", "enum", "const", "$ref", "anyOf", "any", "other"], [12, 3, 2, 1, 2, 3, 1, 1]
        )
        match lead[0]:
            case "type":
                return self._typed(self.chance.choice(TYPES[: 7 if depth else 5]), depth)
            case "types":
                kinds = self.chance.sample(TYPES[: 7 if depth else 5], 2)
                return {**self._typed(kinds[0], depth), **self._typed(kinds[1], depth), "type": kinds}
            case "enum":
                values = {repr(each): each for each in self.chance.sample(SCALARS, self.chance.randint(1, 4))}
                return {"enum": list(values.values())} | self._maybe(type=lambda: self.chance.choice(TYPES[:5]))
            case "const":
                return {"const": self.chance.choice(SCALARS)} | self._maybe(type=lambda: self.chance.choice(TYPES[:3]))
            case "$ref":
                return {"$ref": f"#/$defs/{self.chance.choice(list(DEFINITIONS))}"} | self._maybe(description=lambda: "d")
            case "anyOf":
                alternatives = [self.schema(max(depth - 1, 0)), {"type": "null"}, self.schema(0)]
                return {"anyOf": alternatives[: self.chance.choice([2, 2, 2, 3])]}
            case "any":
                return self.chance.choice([{}, True, {"title": "t"}])
        return self.chance.choice([*HANDLED, *LEFT_TO_THE_ENGINE])

    def _maybe(self, **members: Callable[[], Any]) -> dict[str, Any]:
        return {name: make() for name, make in members.items() if self.chance.random() < 0.4}

    def _typed(self, kind: str, depth: int) -> dict[str, Any]:
        size, bound = (lambda: self.chance.randint(0, 3)), (lambda: self.chance.choice(BOUNDS))
        beside: dict[str, Callable[[], dict[str, Any]]] = {
            "string": lambda: self._maybe(minLength=size, maxLength=size),
            "integer": lambda: self._maybe(minimum=bound, maximum=bound, exclusiveMinimum=bound),
            "number": lambda: self._maybe(minimum=bound, exclusiveMaximum=bound, maximum=bound),
            "array": lambda: self._maybe(items=lambda: self.schema(depth - 1), minItems=size, maxItems=size),
            "object": lambda: self._of_object(depth - 1),
        }
        return {"type": kind, **beside.get(kind, dict)()}

    def _of_object(self, depth: int) -> dict[str, Any]:
        properties = {name: self.schema(depth) for name in self.chance.sample(NAMES, self.chance.randint(0, 4))}
        required = [name for name in NAMES if self.chance.random() < (0.3 if name in properties else 0.03)]
        others: Any = self.chance.choice([False, False, True, self.schema(0)])
        return {"properties": properties} | self._maybe(required=lambda: required, additionalProperties=lambda: others)

    def value(self, schema: Any, depth: int = 6) -> Any:
        """One that mostly fits, and often just does not."""
        if depth == 0 or not isinstance(schema, dict) or self.chance.random() < 0.05:
            return self.chance.choice([*SCALARS, [], {}, [1], {"a": 1}])
        if "$ref" in schema:
            return self.value(DEFINITIONS.get(schema["$ref"].rpartition("/")[2]), depth - 1)
        listed = [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]
        if listed:
            return self.chance.choice(listed)
        if "anyOf" in schema:
            return self.value(self.chance.choice(schema["anyOf"]), depth - 1)
        kinds = schema.get("type", TYPES)
        return self._value_of(kinds if isinstance(kinds, str) else self.chance.choice(kinds), schema, depth - 1)

    def _value_of(self, kind: str, schema: dict[str, Any], depth: int) -> Any:
        low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
        match kind:
            case "object":
                wanted = {name: part for name, part in schema.get("properties", {}).items() if self.chance.random() < 0.8}
                required = [name for name in schema.get("required", []) if self.chance.random() < 0.95]
                wanted |= {name: schema.get("properties", {}).get(name, {}) for name in required}
                others = self.chance.sample(NAMES, 1) if self.chance.random() < 0.2 else []
                made = {name: self.value(part, depth) for name, part in wanted.items()}
                return made | {name: self.value(schema.get("additionalProperties"), depth) for name in others}
            case "array":
                count = self.chance.randint(min(low, high), max(low, high))
                return [self.value(schema.get("items"), depth) for _ in range(count)]
            case "string":
                return "".join(self.chance.choices("aé😀", k=self.chance.randint(0, 3)))
        return self.chance.choice({"integer": WHOLE, "number": NUMBERS, "boolean": [True, False]}.get(kind, [None]))
