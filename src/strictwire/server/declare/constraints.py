"""Refuses constraints on types that they cannot apply to, such as `ge` on a str.

pydantic accepts them: it puts a keyword into the schema that JSON Schema does not have, or drops the constraint.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pathlib
import types
import uuid
from collections.abc import Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from strictwire.server.declare.metadata import is_field, is_pydantic
from strictwire.server.declare.parts import parts
from strictwire.server.declare.refused import NotSupported, type_name

_BOUNDS: Final = ("ge", "gt", "le", "lt")
_LENGTHS: Final = ("min_length", "max_length")
_NUMBER: Final = (*_BOUNDS, "multiple_of")

_APPLIES_TO: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(_BOUNDS, "numbers and dates"),
        **dict.fromkeys(_LENGTHS, "text and collections"),
        "multiple_of": "numbers",
        "pattern": "str",
    }
)
"""The constraints, and what each is for."""

_ACCEPTED: Final[Mapping[Any, tuple[str, ...]]] = MappingProxyType(
    {
        str: (*_LENGTHS, "pattern"),
        **dict.fromkeys((bytes, pathlib.Path, list, tuple, set, frozenset, dict), _LENGTHS),
        **dict.fromkeys((int, float, decimal.Decimal), _NUMBER),
        **dict.fromkeys((dt.date, dt.datetime, dt.time, dt.timedelta), _BOUNDS),
        **dict.fromkeys((bool, uuid.UUID, Any, Literal, enum.Enum), ()),
    }
)
"""The constraints that a type accepts. Other types are left to msgspec and pydantic."""


def check_constraints(hint: Any) -> None:
    """Check every constraint in a hint against its type. Raises NotSupported."""
    for part in parts(hint):
        if get_origin(part) is Annotated:
            names = [name for each in part.__metadata__ for name in _constraints(each)]
            for member in _members(part.__origin__):
                _check(names, member)


def _constraints(metadata: Any) -> Iterator[str]:
    """The names of the constraints that a metadata object sets."""
    if is_field(metadata):
        for each in metadata.metadata:
            yield from _constraints(each)
    elif isinstance(metadata, msgspec.Meta) or is_pydantic(metadata):
        yield from (name for name in _APPLIES_TO if getattr(metadata, name, None) is not None)


def _members(hint: Any) -> Iterator[Any]:
    """The types that a constraint is for: the members of a union except None, otherwise the type itself."""
    if get_origin(hint) in (Union, types.UnionType):
        yield from (each for each in get_args(hint) if each is not type(None))
    else:
        yield hint


def _check(names: list[str], hint: Any) -> None:
    accepted = _ACCEPTED.get(_kind(hint))
    for name in names:
        if accepted is not None and name not in accepted:
            instead = f"use {', '.join(accepted)} for {type_name(hint)}" if accepted else "remove it"
            raise NotSupported(f"has {name}, which applies to {_APPLIES_TO[name]} only; {instead}, or change the type")


def _kind(hint: Any) -> Any:
    kind = get_origin(hint) or hint
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return enum.Enum
    return kind if isinstance(kind, Hashable) else None
