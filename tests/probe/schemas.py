"""Random object schemas, each with a value that it accepts: bounds, patterns, lists of types, references, compositions."""

from __future__ import annotations

from random import Random
from typing import Any, TypeAlias

Made: TypeAlias = tuple[dict[str, Any], Any]
"""A schema and a value that conforms to it."""

PATTERNS = {
    r"^[a-z]{3}-\d{2,4}$": "abc-12",
    r"^(red|green|blue)$": "green",
    r"^\d{4}-\d{2}$": "2026-01",
    r"^[A-Z][A-Za-z0-9_]*$": "Name_1",
    r"\.py$": "a.py",
    r"^#[0-9a-f]{6}$": "#00ff00",
    r"^https?://": "https://a",
}
FORMATS = {"date": "2026-01-01", "email": "a@example.com", "uuid": "12345678-1234-4234-8234-123456789abc"}


def random_schema(random: Random) -> Made:
    """An object schema, as a tool declares it, up to six levels deep."""
    definitions: dict[str, Any] = {}
    schema, value = _object(random, 6, definitions)
    return ({**schema, "$defs": definitions} if definitions else schema), value


def _any(random: Random, depth: int, definitions: dict[str, Any]) -> Made:
    leaves = [_integer, _number, _string, _pattern, _format, _enum, _const, _boolean, _listed]
    inner = [_object, _array, _tuple, _any_of, _all_of, _reference]
    if depth == 0 or random.random() < 0.5:
        return random.choice(leaves)(random)
    return random.choice(inner)(random, depth - 1, definitions)


def _integer(random: Random) -> Made:
    low = random.randint(-50, 50)
    schema: dict[str, Any] = {"type": "integer", "minimum": low, "maximum": low + random.randint(7, 40)}
    if random.random() < 0.3:
        schema["multipleOf"] = step = random.randint(2, 7)
        return schema, -(-low // step) * step
    return schema, low


def _number(random: Random) -> Made:
    low = random.randint(-9, 9)
    return {"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + 1}, low + 0.5


def _string(random: Random) -> Made:
    least = random.randint(0, 30)
    return {"type": "string", "minLength": least, "maxLength": least + random.randint(0, 5)}, "x" * least


def _pattern(random: Random) -> Made:
    pattern = random.choice(list(PATTERNS))
    return {"type": "string", "pattern": pattern}, PATTERNS[pattern]


def _format(random: Random) -> Made:
    name = random.choice(list(FORMATS))
    return {"type": "string", "format": name}, FORMATS[name]


def _enum(random: Random) -> Made:
    values = random.sample(["a", "b", 1, None, True, {"k": 1}, [1]], 3)
    return {"enum": values}, values[1]


def _const(random: Random) -> Made:
    value = random.choice(["x", 5, None, False, {"a": [1]}])
    return {"const": value}, value


def _boolean(random: Random) -> Made:
    return {"type": "boolean"}, random.random() < 0.5


def _listed(random: Random) -> Made:
    kinds = random.sample(["null", "string", "integer", "boolean"], 2)
    values = {"null": None, "string": "ab", "integer": 3, "boolean": True}
    return {"type": kinds, "minLength": 2, "minimum": 3}, values[kinds[1]]


def _object(random: Random, depth: int, definitions: dict[str, Any]) -> Made:
    made = {f"p{index}": _any(random, depth, definitions) for index in range(random.randint(0, 4))}
    required = [name for name in made if random.random() < 0.6]
    schema: dict[str, Any] = {"type": "object", "properties": {name: part for name, (part, _) in made.items()}}
    if required:
        schema["required"] = required
    if random.random() < 0.5:
        schema["additionalProperties"] = False
    return schema, {name: value for name, (_, value) in made.items() if name in required}


def _array(random: Random, depth: int, definitions: dict[str, Any]) -> Made:
    part, value = _any(random, depth, definitions)
    count = random.randint(0, 3)
    return {"type": "array", "items": part, "minItems": count, "maxItems": count + 2}, [value] * count


def _tuple(random: Random, depth: int, definitions: dict[str, Any]) -> Made:
    made = [_any(random, depth, definitions) for _ in range(2)]
    schema = {"type": "array", "prefixItems": [part for part, _ in made], "items": False, "minItems": 2}
    return schema, [value for _, value in made]


def _any_of(random: Random, depth: int, definitions: dict[str, Any]) -> Made:
    made = [_any(random, depth, definitions) for _ in range(2)]
    return {"anyOf": [part for part, _ in made]}, made[1][1]


def _all_of(random: Random, _depth: int, _definitions: dict[str, Any]) -> Made:
    low = random.randint(0, 9)
    return {"allOf": [{"type": "integer", "minimum": low}, {"maximum": low + 2}]}, low


def _reference(random: Random, depth: int, definitions: dict[str, Any]) -> Made:
    part, value = _any(random, depth, definitions)
    name = f"d{len(definitions)}"
    definitions[name] = part
    return {"$ref": f"#/$defs/{name}"}, value
