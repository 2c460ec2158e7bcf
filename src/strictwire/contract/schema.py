"""Which JSON Schemas may be part of a contract: a known dialect, bounded, self-contained, valid in their dialect.

Not here: judging instances (`conform`), judging style (`check`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from strictwire.canon.json import JsonObject, render

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of every schema we write, and of a schema that names none."""

DRAFTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        DIALECT: jsonschema_rs.Draft202012,
        "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909,
        "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7,
        "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6,
        "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4,
    }
)
"""Dialects that are honoured when a schema names them; any other is refused."""

ANNOTATIONS: Final = frozenset(
    {"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords that judge nothing. So do those that begin with `x-`."""

MAX_BYTES: Final = 1024 * 1024
"""A schema is read by people and models; the largest public tool schema met is under 100 KB."""

MAX_DEPTH: Final = 64
"""Nesting of a schema document, far below what crashes schema engines."""


class Problem(StrEnum):
    """Why a schema cannot be part of a contract."""

    UNKNOWN_DIALECT = "unknown_dialect"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    REMOTE_REF = "remote_ref"
    INVALID = "invalid"
    ROOT_NOT_OBJECT = "root_not_object"


class SchemaRefused(ValueError):
    """A schema that cannot be part of a contract. Carries the problem and the JSON pointer of the place."""

    def __init__(self, problem: Problem, pointer: str = "") -> None:
        super().__init__(problem, pointer)
        self.problem = problem
        self.pointer = pointer

    def __str__(self) -> str:
        return f"schema refused: {self.problem.value.replace('_', ' ')} at '{self.pointer}'"


_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def draft_of(schema: JsonObject) -> int:
    """The dialect a schema is written in. Raises SchemaRefused: a dialect we do not know."""
    named = schema.get("$schema", DIALECT)
    draft = DRAFTS.get(named.rstrip("#")) if isinstance(named, str) else None
    if draft is None:
        raise SchemaRefused(Problem.UNKNOWN_DIALECT, "/$schema")
    return draft


def check_schema(schema: JsonObject) -> bytes:
    """Refuse what cannot be a contract; its bytes if it can be one. Raises SchemaRefused: see Problem, in its order."""
    draft_of(schema)
    try:
        raw = render(schema)
    except RecursionError:
        raise SchemaRefused(Problem.TOO_DEEP) from None
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH:
        _check_depth(schema)
    if len(raw) > MAX_BYTES:
        raise SchemaRefused(Problem.TOO_LARGE)
    if b'"$ref"' in raw or b'Ref"' in raw:
        _check_references(schema)
    return raw


def check_tool_input(schema: JsonObject) -> None:
    """MCP asks for an object at the root of every input schema. Raises SchemaRefused."""
    check_schema(schema)
    if schema.get("type") != "object":
        raise SchemaRefused(Problem.ROOT_NOT_OBJECT, "/type")


def walk(schema: Any, pointer: str = "") -> Iterator[tuple[str, JsonObject]]:
    """Every object of a schema document with its pointer, outermost first."""
    if isinstance(schema, dict):
        yield pointer, schema
        for name, member in schema.items():
            yield from walk(member, f"{pointer}/{escape_pointer(name)}")
    elif isinstance(schema, list):
        for index, member in enumerate(schema):
            yield from walk(member, f"{pointer}/{index}")


def escape_pointer(name: str) -> str:
    """One JSON pointer token (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _check_depth(schema: JsonObject) -> None:
    level: list[Any] = [schema]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise SchemaRefused(Problem.TOO_DEEP)


def _children(parent: Any) -> list[Any]:
    members = parent.values() if isinstance(parent, dict) else parent
    return [member for member in members if isinstance(member, dict | list)]


def _check_references(schema: JsonObject) -> None:
    """A reference may name a place in this document, or a resource that this document embeds by `$id`."""
    embedded = {part["$id"] for _, part in walk(schema) if isinstance(part.get("$id"), str)}
    for pointer, part in walk(schema):
        for keyword in _REFERENCES:
            target = part.get(keyword)
            if isinstance(target, str) and not _is_local(target, embedded):
                raise SchemaRefused(Problem.REMOTE_REF, f"{pointer}/{keyword}")


def _is_local(target: str, embedded: set[str]) -> bool:
    base = target.partition("#")[0]
    return base == "" or base in embedded or any(known.endswith("/" + base) for known in embedded)
