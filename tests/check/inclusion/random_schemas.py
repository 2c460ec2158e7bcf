"""Random schemas and random values, from a seed: the same seed gives the same pairs."""

from __future__ import annotations

from random import Random
from typing import Any, Final

NAMES: Final = ("a", "b", "c")
PATTERNS: Final = ("^a", "a$", "^[ab]*$", "^(a|bb)+$", "b", "^.{2,3}$", "^\\d+$", "^[0-9]{1,3}$", "^$")
CONSTANTS: Final = (None, True, 0, 1, 1.0, "", "a", "bb", "12", [])


def random_schema(random: Random, depth: int = 2) -> dict[str, Any]:
    """One schema with at most `depth` levels of composition."""
    kinds = (*_LEAVES, *_COMPOSED) if depth else _LEAVES
    return random.choice(kinds)(random, depth)


def nearby_schema(random: Random, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with one part replaced: a change as people make it."""
    changed = dict(schema)
    for keyword in ("properties", "anyOf", "allOf", "oneOf", "prefixItems"):
        inner = schema.get(keyword)
        if inner and random.random() < 0.7:
            names = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
            name = random.choice(names)
            copy = dict(inner) if isinstance(inner, dict) else list(inner)
            copy[name] = nearby_schema(random, copy[name])
            changed[keyword] = copy
            return changed
    if changed and random.random() < 0.4:
        changed.pop(random.choice(sorted(changed)))
        return changed
    return {**changed, **random_schema(random, 0)} if random.random() < 0.5 else random_schema(random, 1)


def random_value(random: Random, depth: int = 3) -> Any:
    """One value, of the size that the schemas talk about."""
    kind = random.randrange(8)
    if kind == 0 and depth:
        return [random_value(random, depth - 1) for _ in range(random.randrange(4))]
    if kind <= 3 and depth:
        return {name: random_value(random, depth - 1) for name in ("a", "b", "c", "d") if random.random() < 0.45}
    return random.choice(
        (None, True, False, 0, 1, -1, 2, 3, 4, 0.5, 1.0, 1.5, "", "a", "ab", "b", "bb", "aaaa", "12", "1234")
    )


def _typed(random: Random, _depth: int) -> dict[str, Any]:
    names = ("null", "boolean", "string", "integer", "number", "array", "object")
    return {"type": random.choice(names)} if random.random() < 0.7 else {"type": random.sample(names, 2)}


def _integer(random: Random, _depth: int) -> dict[str, Any]:
    low = random.randint(-3, 3)
    return {"type": "integer", "minimum": low, "maximum": low + random.randrange(5)}


def _number(random: Random, _depth: int) -> dict[str, Any]:
    keyword = random.choice(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
    bounds = {keyword: random.choice((-1, 0, 0.5, 2))}
    return (
        {"type": "number", **bounds}
        if random.random() < 0.6
        else {"type": "number", "multipleOf": random.choice((0.5, 2, 3))}
    )


def _text(random: Random, _depth: int) -> dict[str, Any]:
    low = random.randrange(3)
    made: dict[str, Any] = {"type": "string"}
    if random.random() < 0.6:
        made |= {"minLength": low, "maxLength": low + random.randrange(4)}
    if random.random() < 0.6:
        made["pattern"] = random.choice(PATTERNS)
    return made


def _listed(random: Random, _depth: int) -> dict[str, Any]:
    return {"enum": random.sample(CONSTANTS, random.randint(1, 4))}


def _object(random: Random, depth: int) -> dict[str, Any]:
    names = [name for name in NAMES if random.random() < 0.5]
    made: dict[str, Any] = {"type": "object", "properties": {name: random_schema(random, depth - 1) for name in names}}
    made["required"] = [name for name in NAMES if random.random() < 0.3]
    rest = random.randrange(4)
    if rest < 2:
        made["additionalProperties"] = False if rest == 0 else random_schema(random, depth - 1)
    return made


def _array(random: Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "array", "items": random_schema(random, depth - 1)}
    if random.random() < 0.6:
        made["maxItems"] = random.randrange(4)
    if random.random() < 0.3:
        made["prefixItems"] = [random_schema(random, depth - 1)]
    return made | ({"uniqueItems": True} if random.random() < 0.2 else {})


def _combined(keyword: str) -> Any:
    def build(random: Random, depth: int) -> dict[str, Any]:
        return {keyword: [random_schema(random, depth - 1) for _ in range(random.randint(1, 3))]}

    return build


def _not(random: Random, depth: int) -> dict[str, Any]:
    return {"not": random_schema(random, depth - 1)}


_LEAVES: Final = (_typed, _integer, _number, _text, _listed)
_COMPOSED: Final = (_object, _object, _object, _array, _combined("anyOf"), _combined("oneOf"), _combined("allOf"), _not)
