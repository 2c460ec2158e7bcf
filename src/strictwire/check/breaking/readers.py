"""An output schema as a tolerant reader sees it: properties that it does not know are ignored."""

from __future__ import annotations

from typing import Any

from strictwire.canon.json import JsonObject
from strictwire.contract.subschemas import map_subschemas

_CLOSING = ("additionalProperties", "unevaluatedProperties")


def with_open_objects(schema: JsonObject) -> JsonObject:
    """The schema without the keywords that forbid undeclared properties.

    Not below `not` and `if`, where opening would exclude values. `oneOf` becomes `anyOf`: branches that differ only in
    what they forbid would otherwise overlap.
    """
    opened: JsonObject = {}
    for keyword, value in schema.items():
        if keyword in _CLOSING and value is False and "properties" in schema:
            continue
        name = "anyOf" if keyword == "oneOf" and "anyOf" not in schema else keyword
        opened[name] = value if keyword in ("not", "if") else map_subschemas(keyword, value, _open)
    return opened


def _open(schema: Any) -> Any:
    return with_open_objects(schema) if isinstance(schema, dict) else schema
