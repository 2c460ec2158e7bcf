"""Lowers a type hint to one that msgspec converts. Parts that msgspec does not know become placeholders (`schemas`).

    Annotated[int, Field(ge=1)]   Annotated[int, msgspec.Meta(ge=1)]
    Path                          a placeholder, from the table in `leaves`
    Cat | Dog                     a placeholder that tries the members from left to right
    a pydantic model              a placeholder that calls pydantic
    a dataclass with such parts   a placeholder that converts its fields, then calls the class

A hint that needs none of this is returned unchanged, and then msgspec alone does the work.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from typing import Annotated, Any, Final, Literal, NotRequired, Required, TypedDict, Union, get_args, get_origin

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.server.declare.constraints import check_constraints
from strictwire.server.declare.definitions import Definitions, Direction
from strictwire.server.declare.leaves import LEAVES, Leaf
from strictwire.server.declare.metadata import NotTranslated, class_name, is_pydantic, split, translate
from strictwire.server.declare.parts import Metadata, aliased, fields, is_record, is_typed_dict, parts
from strictwire.server.declare.placeholders import RecordPlaceholder, union_special
from strictwire.server.declare.pydantic import is_pydantic_type, pydantic_special
from strictwire.server.declare.refused import NotSupported, Place, advice_for, type_name
from strictwire.server.declare.schemas import Special, inner_schema, special

_UNIONS: Final = (Union, types.UnionType)

_SAME: Final = {typing.LiteralString: str, object: Any}
"""Hints that mean another one."""


def lower_at(hint: Any, direction: Direction, place: Place) -> Any:
    """The hint, lowered. Raises DeclarationRefused with function, parameter, type and remedy."""
    try:
        return lower(hint, direction)
    except NotSupported as exc:
        reason = exc.reason or f"has no JSON Schema; use {advice_for(parts(hint))}"
        raise place.refuse(f"has type {type_name(hint)}, which {reason}") from exc


def lower(hint: Any, direction: Direction) -> Any:
    """The lowered hint. Raises NotSupported."""
    check_constraints(hint)
    if mentions_pydantic(hint):
        return pydantic_special(hint, direction)
    lowered = _Lowering(direction).lower(hint)
    try:
        inner_schema(lowered, Definitions(direction))
    except TypeError as exc:
        # A constraint that msgspec cannot check, such as the bound of a Decimal. pydantic can.
        if any(isinstance(part, Metadata) and is_pydantic(part.value) for part in parts(hint)):
            return pydantic_special(hint, direction)
        raise NotSupported(_reason(exc)) from exc
    return lowered


def mentions_pydantic(hint: Any) -> bool:
    """Whether a part of the hint has a meaning that only pydantic knows. Raises NotSupported: metadata is not understood."""
    return any(_needs_pydantic(part) for part in parts(hint))


def _needs_pydantic(part: Any) -> bool:
    if not isinstance(part, Metadata):
        return is_pydantic_type(part)
    try:
        list(translate(part.value))
    except NotTranslated as exc:
        if is_pydantic(exc.metadata):
            return True
        raise NotSupported(
            f"has metadata of class {class_name(exc.metadata)}, which is not understood; use msgspec.Meta, annotated_types "
            "or pydantic.Field, or remove it"
        ) from exc
    return False


def _reason(exc: TypeError) -> str:
    """Why msgspec refuses a hint; empty for a type that it does not know."""
    if isinstance(exc, NotSupported):
        return exc.reason
    text = str(exc).splitlines()[0] if exc.args and isinstance(exc.args[0], str) else ""
    is_unknown = text.startswith(("Generating JSON schema for custom", "Type '")) or not text
    return "" if is_unknown else f"is refused: {text[:1].lower()}{text[1:]}"


class _Lowering:
    """One hint while it is lowered. Remembers the classes that it is inside of, because classes may refer to themselves."""

    def __init__(self, direction: Direction) -> None:
        self._direction = direction
        self._open: dict[Any, type[Special]] = {}

    def lower(self, hint: Any) -> Any:
        """The hint with every part lowered; the same object if no part changes."""
        if is_native(hint, self._direction):
            return hint
        for known in aliased(hint):
            return self.lower(known)
        origin = get_origin(hint)
        if origin is Annotated:
            return self._annotated(hint)
        if origin in _UNIONS:
            return self._union([self.lower(each) for each in get_args(hint)])
        if is_record(hint):
            return self._record(hint)
        if hint in LEAVES:
            return _leaf(hint, LEAVES[hint])
        if origin is not None:
            return self._generic(hint, origin)
        return _SAME.get(hint, hint)

    def _annotated(self, hint: Any) -> Any:
        metas = [meta for each in hint.__metadata__ for meta in translate(each)]
        constraints, texts = split(metas)
        inner = hint.__origin__
        if constraints and get_origin(inner) in _UNIONS:
            lowered = self._union([self._constrained(each, constraints) for each in get_args(inner)])
        else:
            lowered = self._constrained(inner, constraints)
        return Annotated[lowered, msgspec.Meta(**texts)] if texts else lowered

    def _constrained(self, hint: Any, constraints: dict[str, Any]) -> Any:
        """The constraints of an optional value are those of the value."""
        lowered = self.lower(hint)
        return lowered if not constraints or hint in (None, type(None)) else Annotated[lowered, msgspec.Meta(**constraints)]

    def _union(self, members: list[Any]) -> Any:
        """The members as a union of msgspec if it accepts that, otherwise a placeholder."""
        union: Any = Union[tuple(members)]  # noqa: UP007 - the members are values, not syntax
        try:
            msgspec.json.schema(union, schema_hook=lambda _kind: {})
        except TypeError:
            return union_special(members, self._direction)
        return union

    def _record(self, hint: Any) -> Any:
        if hint in self._open:
            return self._open[hint]
        kind = get_origin(hint) or hint
        if not (dataclasses.is_dataclass(kind) or is_typed_dict(kind)):
            return self._foreign_record(hint, kind)
        made = RecordPlaceholder(hint)
        self._open[hint] = made.kind
        lowered = {name: self._field(each) for name, each in fields(hint).items()}
        typed = TypedDict(made.name, _with_optional(kind, lowered))  # type: ignore[misc]  # made at run time
        made.finish(typed)
        del self._open[hint]
        return typed if is_typed_dict(kind) else made.kind

    def _foreign_record(self, hint: Any, kind: type) -> Any:
        """A record that cannot be taken apart: it works as it is, or not at all."""
        try:
            inner_schema(hint, Definitions(self._direction))
        except TypeError as exc:
            raise NotSupported(
                f"has a field of a type that works only in dataclasses; make {kind.__qualname__} a dataclass"
            ) from exc
        return hint

    def _field(self, hint: Any) -> Any:
        if get_origin(hint) in (Required, NotRequired):
            return get_origin(hint)[self.lower(get_args(hint)[0])]
        return self.lower(hint)

    def _generic(self, hint: Any, origin: Any) -> Any:
        arguments = tuple(each if each is Ellipsis else self.lower(each) for each in get_args(hint))
        if origin is collections.abc.Iterable:
            return list[arguments]  # type: ignore[valid-type]
        if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping) and len(arguments) == 2:
            return _with_key_schema(origin, *arguments)
        try:
            return origin[arguments]
        except TypeError:
            return hint


def is_native(hint: Any, direction: Direction) -> bool:
    """Whether msgspec converts the hint as it is, and makes a complete schema for it. Raises NotSupported."""
    return all(_is_native_part(part, direction) for part in parts(hint))


def _is_native_part(part: Any, direction: Direction) -> bool:
    if isinstance(part, Metadata):
        return isinstance(part.value, msgspec.Meta)
    if get_origin(part) is Annotated and get_origin(part.__origin__) in _UNIONS:
        return False  # msgspec takes the constraints of an optional value only inside the union
    if part.__hash__ is None or (not isinstance(part, type) and aliased(part)):
        return False
    if part in LEAVES:
        # The schemas of these types describe arguments; results have the form that Python gives them.
        return direction is Direction.OUTPUT and LEAVES[part].read is None
    if part in _SAME or get_origin(part) is collections.abc.Iterable:
        return False
    if get_origin(part) in _UNIONS:
        return _accepts_union(part)
    return not (_is_mapping(part) and get_args(part)[0] not in (str, Any))


def _accepts_union(union: Any) -> bool:
    try:
        msgspec.json.schema(union, schema_hook=lambda _kind: {})
    except TypeError:
        return False
    return True


def _is_mapping(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, collections.abc.Mapping) and len(get_args(hint)) == 2


def _leaf(hint: Any, leaf: Leaf) -> Any:
    if leaf.read is None and "type" in leaf.schema:
        return Annotated[hint, msgspec.Meta(extra_json_schema=leaf.schema)]
    read = leaf.read or (lambda value: msgspec.convert(value, hint))
    return special(hint.__name__, schema=lambda _definitions: dict(leaf.schema), read=read)


def _with_key_schema(origin: Any, key: Any, value: Any) -> Any:
    """A mapping whose keys are not just strings. In JSON they are, so the schema says what the strings look like."""
    kind = origin if origin is dict else dict
    return Annotated[kind[key, value], msgspec.Meta(extra_json_schema={"propertyNames": _key_schema(key)})]


def _key_schema(key: Any) -> JsonObject:
    if key is int:
        return {"pattern": r"^-?(0|[1-9][0-9]*)$"}
    if isinstance(key, type) and issubclass(key, enum.Enum):
        return {"enum": [str(member.value) for member in key]}
    if get_origin(key) is Literal:
        return {"enum": [str(each) for each in get_args(key)]}
    schema = inner_schema(key, Definitions(Direction.INPUT))
    if schema.get("type") != "string" or (isinstance(key, type) and issubclass(key, Special)):
        raise NotSupported("has keys that JSON cannot represent; use str, int, an enum, a date or a UUID as keys")
    return schema


def _with_optional(kind: Any, lowered: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record, those with a default as optional ones."""
    if is_typed_dict(kind):
        optional = {name for name in kind.__optional_keys__ if get_origin(lowered[name]) is not NotRequired}
        return {name: NotRequired[each] if name in optional else each for name, each in lowered.items()}
    optional = {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    }
    return {name: NotRequired[each] if name in optional else each for name, each in lowered.items()}
