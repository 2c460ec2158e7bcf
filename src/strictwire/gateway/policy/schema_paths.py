"""Whether a tool's input schema has a place for an argument path. Pure.

The answer is "no" only if the schema describes the place and the path is not in it; where the schema is silent or too
costly to follow, the path may exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.gateway.policy.argument_paths import Segment, Wildcard

MAX_STEPS: Final = 100_000
"""Subschemas that are looked at in one comparison of a policy with its upstreams, about 0.1 s of work."""

MAX_DEPTH: Final = 40
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONAL: Final = ("if", "then", "else")
_DESCRIBING: Final = ("properties", "patternProperties", "additionalProperties", "items", "prefixItems")
_CONTAINERS: Final = frozenset({"object", "array"})


class SchemaPaths:
    """Looks for paths in schemas, with a limit on the work for all of them together."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS

    def may_exist(self, schema: JsonValue, path: Sequence[Segment]) -> bool:
        """Whether arguments that conform to the schema may have something at the path."""
        return self._look(schema, path, schema, 0)

    def _look(self, schema: JsonValue, path: Sequence[Segment], root: JsonValue, depth: int) -> bool:
        self._steps -= 1
        if not path or not isinstance(schema, dict):
            return schema is not False
        if depth > MAX_DEPTH or self._steps < 0:
            return True
        if not _is_described(schema):
            return _may_contain(schema)
        nested = [*_branches(schema, root), *(each for name in _CONDITIONAL if (each := schema.get(name)) is not None)]
        if any(self._look(each, path, root, depth + 1) for each in nested):
            return True
        if path[0] is Wildcard.ANY_DEPTH and self._look(schema, path[1:], root, depth + 1):
            return True
        return any(self._look(child, rest, root, depth + 1) for child, rest in _children(schema, path))


def _is_described(schema: JsonObject) -> bool:
    return any(name in schema for name in (*_BRANCHES, *_CONDITIONAL, *_DESCRIBING, "$ref", "$dynamicRef"))


def _may_contain(schema: JsonObject) -> bool:
    """Whether a value of the schema may be an object or a list at all."""
    kinds = schema.get("type", list(_CONTAINERS))
    named = {kinds} if isinstance(kinds, str) else {each for each in kinds if isinstance(each, str)}
    return "const" not in schema and "enum" not in schema and bool(named & _CONTAINERS)


def _branches(schema: JsonObject, root: JsonValue) -> Iterator[JsonValue]:
    for name in _BRANCHES:
        branches = schema.get(name)
        yield from branches if isinstance(branches, list) else ()
    for name in ("$ref", "$dynamicRef"):
        if name in schema:
            yield _resolve(schema[name], root)


def _resolve(ref: JsonValue, root: JsonValue) -> JsonValue:
    """The subschema that a local reference names; True, which allows everything, for any other."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return True
    found = root
    for name in ref[1:].split("/")[1:]:
        if not isinstance(found, dict):
            return True
        found = found.get(name.replace("~1", "/").replace("~0", "~"), True)
    return found if ref in ("#", "") or ref.startswith("#/") else True


def _children(schema: JsonObject, path: Sequence[Segment]) -> Iterator[tuple[JsonValue, Sequence[Segment]]]:
    """Subschemas of members and items that the first segment leads to, each with the rest of the path.

    A schema that declares properties and says nothing about others is taken at its word: most servers ignore or refuse
    other arguments, and a misspelled path must not pass for one of them.
    """
    segment, rest = path[0], path[1:]
    deeper = path if segment is Wildcard.ANY_DEPTH else rest
    properties = schema.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    if isinstance(segment, str):
        if segment in declared:
            yield declared[segment], rest
    else:
        yield from ((each, deeper) for each in declared.values())
    if isinstance(schema.get("patternProperties"), dict):
        yield from ((each, deeper) for each in schema["patternProperties"].values())
    if schema.get("additionalProperties", False) is not False and segment not in declared:
        yield schema["additionalProperties"], deeper
    prefix = schema.get("prefixItems")
    items = [*(prefix if isinstance(prefix, list) else ()), *([schema["items"]] if "items" in schema else ())]
    # A name that meets a list applies to each item (see `values_at`); an index leads to one.
    by_name = isinstance(segment, str) and not segment.isdigit()
    yield from ((each, path if by_name else deeper) for each in items)
