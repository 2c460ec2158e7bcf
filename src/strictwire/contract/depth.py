"""How deep a value can be that fits a schema, so that the depth of a large one that does need not be measured.

Careful rather than clever: where anything is left open, there is no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject

_PREFIX: Final = "#/$defs/"


class _Open(Exception):
    """The schema lets something in whose depth it does not say."""


def maybe_depth(schema: JsonObject) -> int | None:
    """The most levels of objects and arrays in a value that fits; None if there is no bound, or none that is easily seen."""
    definitions = schema.get("$defs")
    root = {name: member for name, member in schema.items() if name != "$id"}
    try:
        return _depth(root, definitions if isinstance(definitions, dict) else {}, ())
    except _Open:
        return None


def _depth(schema: Any, definitions: JsonObject, within: tuple[str, ...]) -> int:
    if not isinstance(schema, dict) or "$id" in schema:  # an id inside changes what references mean
        raise _Open
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(_PREFIX)
        if schema["$ref"] != _PREFIX + name or name not in definitions or name in within:
            raise _Open
        return _depth(definitions[name], definitions, (*within, name))
    if "anyOf" in schema:
        return max(_depth(each, definitions, within) for each in schema["anyOf"])
    named = schema.get("type")
    kinds = [named] if isinstance(named, str) else named
    if not isinstance(kinds, list) or not kinds:
        raise _Open

    def depth(part: Any) -> int:
        return _depth(part, definitions, within)

    return max(_CONTAINERS[kind](schema, depth) if kind in _CONTAINERS else 0 for kind in kinds)


def _object(schema: JsonObject, depth: Callable[[Any], int]) -> int:
    others = schema.get("additionalProperties")
    parts = [*schema.get("properties", {}).values(), *schema.get("patternProperties", {}).values()]
    return 1 + max(map(depth, [*parts, *([] if others is False else [others])]), default=0)


def _array(schema: JsonObject, depth: Callable[[Any], int]) -> int:
    parts = [*schema.get("prefixItems", []), *([] if schema.get("items") is False else [schema.get("items")])]
    return 1 + max(map(depth, parts), default=0)


_CONTAINERS: Final[Mapping[str, Callable[[JsonObject, Callable[[Any], int]], int]]] = MappingProxyType(
    {"object": _object, "array": _array}
)
