"""Placeholder classes for types that msgspec does not know.

A type hint is lowered to one that msgspec understands; every part that it does not know becomes a class of its own, which
says how its schema is made and how a value is read. msgspec calls these through its hooks, so that hints without such
parts cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from strictwire.canon.json import JsonObject
from strictwire.server.declare.definitions import Definitions


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
