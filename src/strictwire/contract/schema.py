"""Checks that a JSON Schema can be part of a contract: a supported dialect, limited size and depth, no remote references.

Not here: whether the schema is valid in its dialect and whether values conform to it (`conform`), and style (`check`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from strictwire.canon.json import JsonObject, render
from strictwire.canon.shape import has_more_values

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of the schemas that strictwire generates, and of a schema without `$schema`."""

DRAFTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        DIALECT: jsonschema_rs.Draft202012,
        "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909,
        "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7,
        "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6,
        "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4,
    }
)
"""Supported dialects by the value of `$schema`. Any other is refused."""

ANNOTATIONS: Final = frozenset(
    {"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords that do not affect validation, like those that start with `x-`."""

MAX_BYTES: Final = 1024 * 1024
"""People and models read schemas. The largest public tool schema that we have found is smaller than 100 KB."""

MAX_VALUES: Final = 30_000
"""Maximum number of JSON values in a schema, such as the options of an enumeration. Compiling that many takes 0.3 s."""

MAX_DEPTH: Final = 64
"""Maximum nesting of a schema, far below the depth that overflows the stack of schema engines."""


class SchemaProblem(StrEnum):
    """Why a schema cannot be part of a contract."""

    UNKNOWN_DIALECT = "unknown_dialect"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    REMOTE_REF = "remote_ref"
    INVALID = "invalid"
    ROOT_NOT_OBJECT = "root_not_object"
    TOO_COMPLEX = "too_complex"


_EXPLANATIONS: Final[Mapping[SchemaProblem, str]] = MappingProxyType(
    {
        SchemaProblem.UNKNOWN_DIALECT: f"the dialect in $schema is not supported; use {DIALECT}",
        SchemaProblem.TOO_LARGE: f"the schema is larger than {MAX_BYTES:,} bytes or has more than {MAX_VALUES:,} values",
        SchemaProblem.TOO_DEEP: f"the schema is nested deeper than {MAX_DEPTH} levels",
        SchemaProblem.REMOTE_REF: "the reference leads outside the schema; copy its target into $defs",
        SchemaProblem.INVALID: "the schema is not valid in its dialect, or a reference does not resolve",
        SchemaProblem.ROOT_NOT_OBJECT: 'the root of an input schema needs "type": "object"',
        SchemaProblem.TOO_COMPLEX: (
            "checking a value would take too long; use fewer branches and references inside of each other"
        ),
    }
)


class SchemaRefused(ValueError):
    """A schema cannot be part of a contract. Carries the problem and the JSON pointer of the place."""

    def __init__(self, problem: SchemaProblem, pointer: str = "") -> None:
        super().__init__(problem, pointer)
        self.problem = problem
        self.pointer = pointer

    def __str__(self) -> str:
        where = f" (at {self.pointer})" if self.pointer else ""
        return f"{_EXPLANATIONS[self.problem]}{where}"


_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def draft_of(schema: JsonObject) -> int:
    """The JSON Schema draft of a schema, as a constant of jsonschema-rs. Raises SchemaRefused: an unknown dialect."""
    named = schema.get("$schema", DIALECT)
    draft = DRAFTS.get(named.rstrip("#")) if isinstance(named, str) else None
    if draft is None:
        raise SchemaRefused(SchemaProblem.UNKNOWN_DIALECT, "/$schema")
    return draft


def check_schema(schema: JsonObject) -> bytes:
    """Check a schema and return it encoded. Raises SchemaRefused: unknown dialect, too deep, too large, remote reference."""
    draft_of(schema)
    try:
        raw = render(schema)
    except RecursionError:
        raise SchemaRefused(SchemaProblem.TOO_DEEP) from None
    # The counts of brackets and the search for "$ref" are cheap tests that most schemas pass without a walk.
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH:
        _check_depth(schema)
    if len(raw) > MAX_BYTES or has_more_values(raw, MAX_VALUES):
        raise SchemaRefused(SchemaProblem.TOO_LARGE)
    if b'"$ref"' in raw or b'Ref"' in raw:
        _check_references(schema)
    return raw


def check_tool_input(schema: JsonObject) -> None:
    """Check an input schema. MCP requires `"type": "object"` at its root. Raises SchemaRefused."""
    check_schema(schema)
    if schema.get("type") != "object":
        raise SchemaRefused(SchemaProblem.ROOT_NOT_OBJECT, "/type")


def walk(schema: Any, pointer: str = "") -> Iterator[tuple[str, JsonObject]]:
    """All objects in a schema document with their JSON pointers, outermost first. Not all of them are schemas."""
    if isinstance(schema, dict):
        yield pointer, schema
        for name, member in schema.items():
            yield from walk(member, f"{pointer}/{escape_pointer(name)}")
    elif isinstance(schema, list):
        for index, member in enumerate(schema):
            yield from walk(member, f"{pointer}/{index}")


def escape_pointer(name: str) -> str:
    """Escape a name as a token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def split_pointer(pointer: str) -> tuple[str, ...]:
    """The unescaped tokens of a JSON pointer (RFC 6901)."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def _check_depth(schema: JsonObject) -> None:
    level: list[Any] = [schema]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise SchemaRefused(SchemaProblem.TOO_DEEP)


def _children(parent: Any) -> list[Any]:
    members = parent.values() if isinstance(parent, dict) else parent
    return [member for member in members if isinstance(member, dict | list)]


def _check_references(schema: JsonObject) -> None:
    """Allow references to a place in this document, or to a schema resource that it embeds with `$id`."""
    embedded = {part["$id"] for _, part in walk(schema) if isinstance(part.get("$id"), str)}
    for pointer, part in walk(schema):
        for keyword in _REFERENCES:
            target = part.get(keyword)
            if isinstance(target, str) and not _is_local(target, embedded):
                raise SchemaRefused(SchemaProblem.REMOTE_REF, f"{pointer}/{keyword}")


def _is_local(target: str, embedded: set[str]) -> bool:
    base = target.partition("#")[0]
    return base == "" or base in embedded or any(known.endswith("/" + base) for known in embedded)
