"""JSON Schemas of lowered type hints: closed objects, no defaults, definitions in `$defs`.

A type hint is lowered to one that msgspec understands. Every part that msgspec does not know becomes a placeholder, a class
of its own, which says how its schema is made and how a value is read. msgspec calls these through its hooks, so that hints
without such parts cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.contract.schema import DIALECT
from strictwire.server.declare.definitions import Definitions, Direction, normalise


class _Placeholder(type):
    """msgspec checks that a hook returns an instance of the class. A placeholder stands for another type, so all are."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class Special(metaclass=_Placeholder):
    """Base of the placeholder classes."""

    make_schema: ClassVar[Callable[[Definitions], JsonObject]]
    """Returns the schema, and adds the definitions that it refers to."""
    read: ClassVar[Callable[[Any], Any]]
    """Converts a JSON value that conforms to the schema. Raises ValueError: the type itself rejects the value."""


def special(name: str, *, schema: Callable[[Definitions], JsonObject], read: Callable[[Any], Any]) -> type[Special]:
    """Make a placeholder class."""
    made: type[Special] = _Placeholder(name, (Special,), {"make_schema": staticmethod(schema), "read": staticmethod(read)})  # type: ignore[assignment]
    return made


def read_special(kind: type[Special], value: Any) -> Any:
    """The `dec_hook` of msgspec."""
    return kind.read(value)


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
