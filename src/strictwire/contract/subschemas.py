"""The schemas directly under a JSON Schema keyword. Everything else under a keyword (`enum`, `const`, `default`) is data.

Also the texts of a schema and its subschemas, which a validator ignores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from strictwire.canon.json import JsonValue
from strictwire.contract.schema import escape_pointer

SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps names to schemas. The names are chosen by the author: they are not keywords."""

SCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords whose value is a list of schemas. `items` is one only up to draft 2019-09."""

SCHEMA_SINGLES: Final = frozenset(
    {
        "items",
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is one schema."""

TEXT_KEYWORDS: Final = frozenset({"title", "description", "$comment", "examples"})
"""Keywords that a person or a model reads and a validator ignores. They belong to the texts, not to the shape."""


def subschemas(keyword: str, value: Any) -> Iterator[tuple[str, JsonValue]]:
    """The schemas directly under a keyword, each with the JSON pointer from the keyword to it."""
    if keyword in SCHEMA_MAPS and isinstance(value, dict):
        for name, child in value.items():
            yield f"/{escape_pointer(name)}", child
    elif keyword in SCHEMA_LISTS and isinstance(value, list):
        for index, child in enumerate(value):
            yield f"/{index}", child
    elif keyword in SCHEMA_SINGLES:
        yield "", value


def map_subschemas(keyword: str, value: Any, change: Callable[[Any], Any]) -> Any:
    """The value of a keyword, with `change` applied to each schema directly under it. Data is returned unchanged."""
    if keyword in SCHEMA_MAPS and isinstance(value, dict):
        return {name: change(child) for name, child in value.items()}
    if keyword in SCHEMA_LISTS and isinstance(value, list):
        return [change(child) for child in value]
    return change(value) if keyword in SCHEMA_SINGLES else value


def schema_texts(schema: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    """The text keywords of a schema and its subschemas, each with the JSON pointer of the keyword."""
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        here = f"{pointer}/{escape_pointer(keyword)}"
        if keyword in TEXT_KEYWORDS:
            yield here, value
        for step, child in subschemas(keyword, value):
            yield from schema_texts(child, here + step)


def strip_text(schema: JsonValue) -> JsonValue:
    """The schema without its text keywords: only what a validator uses."""
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: map_subschemas(keyword, value, strip_text)
        for keyword, value in schema.items()
        if keyword not in TEXT_KEYWORDS
    }
