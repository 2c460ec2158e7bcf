"""The fingerprint of a tool: what it takes, what it gives, what it says and what it hints, each as one digest.

Specified in docs/FINGERPRINT.md, so that others can compute the same digests. It covers what a server shows in
`tools/list`; the terms that only our own contracts have (tier, roles, caps) are not on the wire and do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from strictwire.canon.digest import digest_bytes
from strictwire.canon.jcs import render_canonical
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.schema import escape_pointer
from strictwire.contract.tool import ToolContract

VERSION: Final = 1
"""The version of the specification that these digests follow."""

TEXT_KEYWORDS: Final = frozenset({"title", "description", "$comment", "examples"})
"""Keywords a reader or a model sees and a validator ignores: they belong to the text, not to the shape."""

SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps names to schemas: the names are not keywords."""

SCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})

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


class Aspect(StrEnum):
    """One digest of a fingerprint."""

    INPUT = "input"
    OUTPUT = "output"
    DESCRIPTION = "description"
    ANNOTATIONS = "annotations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The digests of one tool. `output` is None for a tool that promises no output."""

    whole: str
    input: str
    output: str | None
    description: str
    annotations: str

    def as_json(self) -> JsonObject:
        """The form that lock files hold."""
        return {"whole": self.whole, **self._aspects()}

    def changed_from(self, other: Fingerprint) -> frozenset[Aspect]:
        """Which aspects differ."""
        return frozenset(each for each in Aspect if self._aspects()[each.value] != other._aspects()[each.value])

    def _aspects(self) -> dict[str, str | None]:
        return {
            "input": self.input,
            "output": self.output,
            "description": self.description,
            "annotations": self.annotations,
        }


def fingerprint(tool: ToolContract) -> Fingerprint:
    """The fingerprint of a tool. Raises NotJson: a schema or annotation that is not JSON."""
    aspects: dict[str, str | None] = {
        "input": _digest(strip_text(tool.input_schema)),
        "output": None if tool.output_schema is None else _digest(strip_text(tool.output_schema)),
        "description": _digest(texts_of(tool)),
        "annotations": _digest(dict(tool.annotations)),
    }
    whole = _digest({"fingerprint": VERSION, "name": tool.name, **aspects})
    return Fingerprint(whole=whole, **aspects)  # type: ignore[arg-type]  # only `output` may be None


def parse_fingerprint(value: Mapping[str, Any]) -> Fingerprint:
    """Read what `as_json` wrote. Raises KeyError, TypeError: a digest is absent or not text."""
    known = {"whole", *(each.value for each in Aspect)}
    if set(value) != known or not all(isinstance(value[name], str) for name in known - {"output"}):
        raise TypeError(f"a fingerprint has exactly {', '.join(sorted(known))}")
    return Fingerprint(**{name: value[name] for name in known})


def texts_of(tool: ToolContract) -> JsonObject:
    """Everything a reader or a model is told, by place. Absent texts are left out; an empty one counts."""
    texts: JsonObject = {"description": tool.description}
    if tool.title is not None:
        texts["title"] = tool.title
    for side, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        found = dict(schema_texts(schema)) if schema is not None else {}
        if found:
            texts[side] = found
    return texts


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


def subschemas(keyword: str, value: Any) -> Iterator[tuple[str, JsonValue]]:
    """The schemas directly under a keyword, with the pointer from the keyword to them."""
    if keyword in SCHEMA_MAPS and isinstance(value, dict):
        for name, child in value.items():
            yield f"/{escape_pointer(name)}", child
    elif keyword in SCHEMA_LISTS and isinstance(value, list):
        for index, child in enumerate(value):
            yield f"/{index}", child
    elif keyword in SCHEMA_SINGLES:
        yield "", value


def strip_text(schema: JsonValue) -> JsonValue:
    """The schema without its text keywords: what a validator sees."""
    if not isinstance(schema, dict):
        return schema
    return {name: _strip_under(name, value) for name, value in schema.items() if name not in TEXT_KEYWORDS}


def _strip_under(keyword: str, value: Any) -> Any:
    if keyword in SCHEMA_MAPS and isinstance(value, dict):
        return {name: strip_text(child) for name, child in value.items()}
    if keyword in SCHEMA_LISTS and isinstance(value, list):
        return [strip_text(child) for child in value]
    return strip_text(value) if keyword in SCHEMA_SINGLES else value


def _digest(value: JsonValue) -> str:
    return digest_bytes(render_canonical(value))
