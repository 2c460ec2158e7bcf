"""Generates arguments that conform to a JSON Schema, for the simple schemas that tools have. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

MAX_DEPTH: Final = 8
"""Maximum nesting of generated arguments; for deeper schemas the user gives arguments with --tool."""


def maybe_arguments(schema: JsonObject) -> JsonObject | None:
    """Minimal arguments that the schema accepts, or None if none were found."""
    value = _value(schema, schema, MAX_DEPTH)
    return value if isinstance(value, dict) and accepts(schema, value) else None


def accepts(schema: JsonObject, value: JsonValue) -> bool:
    """Whether the value conforms; also False for a schema that does not compile."""
    try:
        return compile_schema(schema).accepts(value)
    except SchemaRefused:
        return False


def _value(schema: Any, root: JsonObject, depth: int) -> Any:
    if not isinstance(schema, dict) or depth == 0:
        return None
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("enum", "examples"):
        if schema.get(keyword):
            return schema[keyword][0]
    if isinstance(reference := schema.get("$ref"), str):
        return _value(_resolve(reference, root), root, depth - 1)
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            return _value(schema[keyword][0], root, depth - 1)
    kind = schema.get("type", "object")
    make = _MAKERS.get(kind[0] if isinstance(kind, list) and kind else str(kind), _null)
    return make(schema, root, depth)


def _resolve(reference: str, root: JsonObject) -> Any:
    target: Any = root
    for token in reference.removeprefix("#").split("/")[1:]:
        target = target.get(token.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
    return target


def _null(_schema: JsonObject, _root: JsonObject, _depth: int) -> None:
    return None


def _boolean(_schema: JsonObject, _root: JsonObject, _depth: int) -> bool:
    return False


def _number(schema: JsonObject, _root: JsonObject, _depth: int) -> int | float:
    if "exclusiveMinimum" in schema:
        return int(schema["exclusiveMinimum"]) + 1
    low, high = schema.get("minimum"), schema.get("maximum")
    start = 1 if low is None or low <= 1 else low
    return start if high is None or start <= high else int(high)


def _string(schema: JsonObject, _root: JsonObject, _depth: int) -> str:
    known = {"uri": "https://example.com/", "date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z"}
    text = known.get(str(schema.get("format")), "a")
    return text.ljust(int(schema.get("minLength", 0)), "a")


def _array(schema: JsonObject, root: JsonObject, depth: int) -> list[Any]:
    count = max(1, min(int(schema.get("minItems", 1)), 16))
    return [_value(schema.get("items", {"type": "string"}), root, depth - 1) for _ in range(count)]


def _object(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    properties = schema.get("properties")
    members = properties if isinstance(properties, dict) else {}
    return {name: _value(members.get(name, {}), root, depth - 1) for name in schema.get("required", [])}


_MAKERS: Final[Mapping[str, Callable[[JsonObject, JsonObject, int], Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
}
