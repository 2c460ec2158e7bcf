"""Generated schemas in one form, and the `$defs` that they refer to."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.contract.subschemas import map_subschemas
from strictwire.server.declare.leaves import TIME_TEXT
from strictwire.server.declare.refused import NotSupported


class Direction(StrEnum):
    """Whether a schema describes arguments or results. pydantic models may look different in the two."""

    INPUT = "input"
    OUTPUT = "output"


class Definitions:
    """The `$defs` of a schema that is being made."""

    def __init__(self, direction: Direction) -> None:
        self._direction = direction
        self.schemas: JsonObject = {}

    def add(self, name: str, schema: JsonObject) -> None:
        """Add a definition. Raises NotSupported: another one has the same name."""
        normalised = normalise(schema, self._direction)
        if self.schemas.setdefault(name, normalised) != normalised:
            raise NotSupported(f"needs two different definitions named {name!r}; rename one of the classes")


def definition_name(name: str) -> str:
    """A name that needs no escaping in a reference. The form is that of msgspec: `Page[Node]` becomes `Page_Node_`."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


_REMOVED: Final = frozenset({"default", "title", "discriminator"})
"""Keywords of generated schemas that are removed: a schema fills in no defaults, titles are only class names, and
`discriminator` belongs to OpenAPI."""

_NOT_ENFORCED: Final = frozenset({"date-time", "time"})
"""Formats that require an offset from UTC. Results may have none, as values of Python may."""


def normalise(schema: Any, direction: Direction) -> Any:
    """Remove generated keywords, and close every object that has properties."""
    if not isinstance(schema, dict):
        return schema
    normalised = {
        keyword: map_subschemas(keyword, value, lambda part: normalise(part, direction))
        for keyword, value in schema.items()
        if keyword not in _REMOVED
    }
    if normalised.get("format") in _NOT_ENFORCED and direction is Direction.OUTPUT:
        del normalised["format"]
    elif normalised.get("format") == "time":
        normalised = {"pattern": TIME_TEXT} | {key: value for key, value in normalised.items() if key != "format"}
    if "properties" in normalised:
        normalised.setdefault("additionalProperties", False)
        if "required" in normalised:
            normalised["required"] = [name for name in normalised["properties"] if name in normalised["required"]]
    return normalised
