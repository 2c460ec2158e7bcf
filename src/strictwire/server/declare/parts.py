"""The parts of a type hint: its arguments, its metadata, and the fields of the classes that it names."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from strictwire.server.declare.refused import NotSupported


@dataclasses.dataclass(frozen=True, slots=True)
class Metadata:
    """A metadata object of `Annotated[...]`."""

    value: object


def parts(hint: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """The hint and everything below it: hints, and Metadata. Each class is entered once. Raises NotSupported."""
    seen = set() if seen is None else seen
    yield hint
    if get_origin(hint) is Annotated:
        yield from map(Metadata, hint.__metadata__)
        yield from parts(hint.__origin__, seen)
        return
    if get_origin(hint) is Literal or id(hint) in seen:
        return
    children = [*_arguments(hint), *aliased(hint), *(_fields(hint).values())]
    if children:
        seen.add(id(hint))
    for child in children:
        yield from parts(child, seen)


def _arguments(hint: Any) -> list[Any]:
    return [each for each in get_args(hint) if each is not Ellipsis and not isinstance(each, list)]


def _fields(hint: Any) -> Mapping[str, Any]:
    return fields(hint) if is_record(hint) else {}


def aliased(hint: Any) -> tuple[Any, ...]:
    """What a NewType or a type alias stands for; empty if it is neither."""
    if isinstance(hint, typing.NewType):
        return (hint.__supertype__,)
    origin = get_origin(hint)
    if _is_alias(origin):
        return (origin.__value__[get_args(hint)],)
    return (hint.__value__,) if _is_alias(hint) else ()


def _is_alias(hint: Any) -> bool:
    """Whether it was made by the `type` statement or by TypeAliasType, which Python 3.11 has in typing_extensions."""
    return type(hint).__name__ == "TypeAliasType"


def is_typed_dict(hint: Any) -> bool:
    """Whether it is a TypedDict of typing or typing_extensions."""
    return isinstance(hint, type) and issubclass(hint, dict) and hasattr(hint, "__required_keys__")


def is_record(hint: Any) -> bool:
    """Whether it is a class with typed fields, or a generic one with arguments."""
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and (
        dataclasses.is_dataclass(kind)
        or is_typed_dict(kind)
        or hasattr(kind, "_field_defaults")  # a NamedTuple
        or issubclass(kind, msgspec.Struct)
        or hasattr(kind, "__attrs_attrs__")
    )


def fields(hint: Any) -> Mapping[str, Any]:
    """The fields of a record and their hints, with the arguments of a generic class in place. Raises NotSupported."""
    kind = get_origin(hint) or hint
    if issubclass(kind, msgspec.Struct):
        return {field.name: field.type for field in msgspec.structs.fields(hint)}
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError as exc:
        raise NotSupported(f"names {exc.name!r} in {kind.__qualname__}, but the module does not define it") from exc
    if dataclasses.is_dataclass(kind):
        hints = {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}
    variables = dict(zip(getattr(kind, "__parameters__", ()), get_args(hint), strict=False))
    return {name: _substitute(each, variables) for name, each in hints.items()}


def _substitute(hint: Any, variables: Mapping[Any, Any]) -> Any:
    if isinstance(hint, typing.TypeVar):
        return variables.get(hint, hint)
    free = getattr(hint, "__parameters__", ())
    return hint[tuple(variables.get(each, each) for each in free)] if free and not isinstance(hint, type) else hint
