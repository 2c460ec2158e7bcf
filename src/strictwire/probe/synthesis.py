"""A value that fits a JSON Schema, for the plain schemas that tools have. Pure; gives None where it cannot be sure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

MAX_DEPTH: Final = 8
"""Arguments nested deeper than this are given by hand."""


def maybe_arguments(schema: JsonObject) -> JsonObject | None:
    """The smallest arguments that the schema accepts, or None when none was found."""
    value = _value(schema, schema, MAX_DEPTH)
    return value if isinstance(value, dict) and accepts(schema, value) else None


def accepts(schema: JsonObject, value: JsonValue) -> bool:
    """Whether the value fits; False also for a schema that cannot be compiled."""
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
    place: Any = root
    for token in reference.removeprefix("#").split("/")[1:]:
        place = place.get(token.replace("~1", "/").replace("~0", "~")) if isinstance(place, dict) else None
    return place


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
