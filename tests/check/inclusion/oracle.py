"""What a schema accepts if an object with declared properties has no others: an implementation to compare with.

It shares nothing with `strictwire.check.inclusion`: it multiplies out the alternatives of a schema and asks the validator
about each part.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from strictwire.contract.conform import compile_schema

COMPOSED = ("allOf", "anyOf", "oneOf")


def accepts_declared(schema: dict[str, Any], value: Any) -> bool:
    """Whether the validator accepts the value and one alternative of the schema declares every property in it."""
    return compile_schema(schema).accepts(value) and _is_declared(schema, value)


def _is_declared(schema: Any, value: Any) -> bool:
    if isinstance(schema, bool):
        return schema
    return any(_is_declared_by(parts, value) for parts in _alternatives(schema))


def _alternatives(schema: Any) -> list[list[dict[str, Any]]]:
    if isinstance(schema, bool):
        return [[{}]] if schema else []
    factors = [[[{name: each for name, each in schema.items() if name not in COMPOSED}]]]
    factors += [_alternatives(each) for each in schema.get("allOf", ())]
    factors += [[way for each in schema[name] for way in _alternatives(each)] for name in COMPOSED[1:] if name in schema]
    return [[part for way in ways for part in way] for ways in product(*factors)]


def _is_declared_by(parts: list[dict[str, Any]], value: Any) -> bool:
    if not all(compile_schema(part).accepts(value) for part in parts):
        return False
    if isinstance(value, dict):
        names = {name for part in parts for name in (*part.get("properties", ()), *part.get("required", ()))}
        is_map = any(isinstance(part.get("additionalProperties"), dict) for part in parts)
        declares = any(part.get("properties") or part.get("additionalProperties") is False for part in parts)
        if declares and not is_map and not value.keys() <= names:
            return False
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return all(_is_declared({"allOf": [_member(part, name) for part in parts]}, member) for name, member in members)


def _member(part: dict[str, Any], name: str | int) -> Any:
    if isinstance(name, str):
        return part.get("properties", {}).get(name, part.get("additionalProperties", True))
    first = part.get("prefixItems", [])
    return first[name] if name < len(first) else part.get("items", True)
