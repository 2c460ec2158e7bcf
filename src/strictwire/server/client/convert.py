"""Converts structured content to the types of the caller, by the same rules as the arguments of declared tools."""

from __future__ import annotations

import contextlib
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import OutputInvalid
from strictwire.server.declare.definitions import Direction
from strictwire.server.declare.placeholders import convert as convert_lowered
from strictwire.server.declare.placeholders import with_integers
from strictwire.server.declare.refused import NotSupported, type_name
from strictwire.server.declare.results import RESULT
from strictwire.server.declare.types import lower
from strictwire.server.declare.violations import refused_by_type

T = TypeVar("T")

_MEMBER: Final = "value"


def convert(value: JsonValue, kind: type[T], tool: str) -> T:
    """Convert structured content to a type.

    A result that is not an object is sent inside one, as `{"result": ...}`. If the content itself does not fit the type, but
    that member does, the member is the result. Raises OutputInvalid, and TypeError: the type has no JSON form.
    """
    lowered = _lowered(kind)
    try:
        return _convert(value, lowered)  # type: ignore[no-any-return]  # of the type that was lowered
    except msgspec.ValidationError as exc:
        if isinstance(value, dict) and list(value) == [RESULT]:
            return _convert_member(value, lowered, tool)  # type: ignore[no-any-return]  # as above
        raise _invalid(exc, value, tool) from exc


def _convert_member(value: JsonObject, lowered: Any, tool: str) -> Any:
    try:
        return _convert(value[RESULT], lowered)
    except msgspec.ValidationError as exc:
        raise _invalid(exc, value, tool) from exc


def _convert(value: Any, lowered: Any) -> Any:
    with contextlib.suppress(msgspec.ValidationError):
        return convert_lowered({_MEMBER: value}, lowered).value
    # In JSON `1.0` is an integer, but msgspec does not convert it to int.
    return convert_lowered({_MEMBER: with_integers(value)}, lowered).value


def _lowered(kind: Any) -> Any:
    """A struct whose only member has the type: errors of types inside have a place only in a member, as in arguments."""
    try:
        return _lower_cached(kind) if kind.__hash__ is not None else _lower(kind)
    except NotSupported as exc:
        raise TypeError(f"{type_name(kind)} {exc.reason or 'has no JSON form'}") from exc


def _lower(kind: Any) -> Any:
    return msgspec.defstruct("content", [(_MEMBER, lower(kind, Direction.INPUT))])


_lower_cached: Final = lru_cache(maxsize=256)(_lower)


def _invalid(exc: msgspec.ValidationError, value: Any, tool: str) -> OutputInvalid:
    found = refused_by_type(exc, {_MEMBER: value}).failure.details["violations"]
    violations = [dict(each) for each in found] if isinstance(found, list) else []
    return OutputInvalid(tool, [{**each, "path": str(each["path"]).removeprefix(f"/{_MEMBER}")} for each in violations])
