"""JSON Schemas of lowered type hints: closed objects, no defaults, definitions in `$defs`."""

from __future__ import annotations

from typing import Any

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.contract.schema import DIALECT
from strictwire.server.declare.definitions import Definitions, Direction, normalise
from strictwire.server.declare.special import Special


def root_schema(hint: Any, direction: Direction) -> JsonObject:
    """The schema of a lowered hint, with `$schema` and `$defs`. Raises TypeError: the hint has no schema."""
    definitions = Definitions(direction)
    root = normalise(inner_schema(hint, definitions), direction)
    # MCP requires the object itself at the root, but msgspec puts a named type in `$defs` and a reference to it at the root.
    reference = root["$ref"] if set(root) == {"$ref"} else None
    named = definitions.schemas
    if reference is not None:
        name = reference.rpartition("/")[2]
        root = named.pop(name)
        # A recursive type stays in `$defs` as well, because it refers to itself.
        if render(reference) in render([root, named]):
            named[name] = root
    schema: JsonObject = {"$schema": DIALECT, **root}
    if schema.get("type") == "object":
        schema.setdefault("required", [])
    if named:
        schema["$defs"] = dict(sorted(named.items()))
    return schema


def inner_schema(hint: Any, definitions: Definitions) -> JsonObject:
    """The schema of a part of a hint. Adds what it refers to. Raises TypeError: the hint has no schema."""
    found = msgspec.json.schema(hint, schema_hook=lambda kind: _special_schema(kind, definitions))
    for name, part in found.pop("$defs", {}).items():
        definitions.add(name, part)
    return found


def _special_schema(kind: Any, definitions: Definitions) -> JsonObject:
    if isinstance(kind, type) and issubclass(kind, Special):
        return kind.make_schema(definitions)
    raise TypeError(kind)
