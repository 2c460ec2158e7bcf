"""A faster yes for common schemas: the schema as a msgspec type, to which a value can be converted only if it fits.

Only the yes counts. What does not convert is judged by the general engine, so a type is at least as strict as its schema but
need not be as broad: an integral float is an integer to JSON Schema and none to the type. A schema with any keyword that is
not handled here has no type. Not here: why a value does not fit (`conform`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, reduce
from operator import or_
from types import GenericAlias, MappingProxyType, NoneType
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, TypedDict, is_typeddict

from msgspec import UNSET, Meta, Struct, ValidationError, convert, defstruct

from strictwire.canon.json import MAX_DEPTH, JsonObject, JsonValue
from strictwire.contract.schema import ANNOTATIONS

Judge: TypeAlias = Callable[[JsonValue], bool]

MAX_FIELDS: Final = 64
"""Properties of one object. The names of a value are looked for one after the other."""

MAX_PARTS: Final = 500
"""Schemas in one document, counted as often as they are referred to: making a type takes some time for each."""

WORTH: Final = 200
"""Nanoseconds that a type must save on a usual value."""

_USUAL_ITEMS: Final = 8
"""How many items an array is taken to have."""

_MAX_EXACT: Final = 2**53
"""Whole numbers up to here are the same as floats."""

_AT_ROOT: Final = frozenset({"$schema", "$defs"})

_NAME: Final = re.compile(r'[^\\"\x00-\x1f]+')
"""Names that a field can be renamed to."""


class _NoType(Exception):
    """The schema has a part that no type says exactly."""


def hasten(schema: JsonObject, is_valid: Judge) -> Judge:
    """The same judge, faster on large values. The type is made when the first value comes."""

    @cache
    def find() -> type[Struct] | None:
        return maybe_type(schema)

    def accepts(value: JsonValue) -> bool:
        made = find()
        if made is None:
            return is_valid(value)
        try:
            convert(value, made)
        except ValidationError:
            return is_valid(value)
        return True

    return accepts


def maybe_type(schema: JsonObject, *, worth: int = WORTH) -> type[Struct] | None:
    """A type that only values which fit can be converted to; None if there is none, or none that is worth it."""
    maker = _Maker(schema.get("$defs", {}))
    made = _maybe_made(maker, schema)
    return made if maker.gain >= worth and isinstance(made, type) and issubclass(made, Struct) else None


def maybe_plain_type(schema: JsonObject) -> Any:
    """The same with dictionaries, and with nothing that may be anything: what converts to it becomes a copy that is JSON
    throughout. Members that no property names are left out of the copy."""
    made = _maybe_made(_PlainMaker(schema.get("$defs", {})), schema)
    return made if is_typeddict(made) else None


def maybe_closed_type(schema: JsonObject) -> Any:
    """The same, only where the schema refuses members that no property names: those that are left out do not fit."""
    made = _maybe_made(_ClosedMaker(schema.get("$defs", {})), schema)
    return made if is_typeddict(made) else None


def _maybe_made(maker: _Maker, schema: JsonObject) -> Any:
    root = {name: member for name, member in schema.items() if name not in _AT_ROOT}
    try:
        made = maker.make(root)
        with suppress(ValidationError):
            convert({}, made)  # msgspec says what it cannot do when a type is first used
    except (_NoType, TypeError):
        return None
    return made


class _Maker:
    """Makes the types of one document."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._open: list[str] = []
        self._parts = 0
        self._times = 1
        self.gain = 0

    def make(self, schema: Any) -> Any:
        """The type of a schema. Raises _NoType."""
        self._parts += 1
        if schema is True:
            return self._anything()
        if not isinstance(schema, dict) or self._parts > MAX_PARTS:
            raise _NoType
        said = {name: member for name, member in schema.items() if name not in ANNOTATIONS and not name.startswith("x-")}
        if not said:
            return self._anything()
        leading = next((name for name in _LEADING if name in said), None)
        if leading is None:
            raise _NoType
        return _LEADING[leading](self, said)

    def _count(self, gain: int) -> None:
        """What a part saves, as measured against the engine: new lists cost more, bounds and members less."""
        self.gain += self._times * gain

    def reference(self, said: JsonObject) -> Any:
        """`$ref` to a definition of the document, alone; not from inside itself."""
        name = said["$ref"].removeprefix("#/$defs/")
        if len(said) > 1 or name not in self._definitions or name in self._open:
            raise _NoType
        self._open.append(name)
        made = self.make(self._definitions[name])
        self._open.pop()
        return made

    def any_of(self, said: JsonObject) -> Any:
        """`anyOf` a schema or null: of more, msgspec cannot always tell which is meant."""
        others = [each for each in said["anyOf"] if each != {"type": "null"}]
        if len(said) > 1 or len(others) != 1:
            raise _NoType
        return self.make(others[0]) | NoneType

    def listed(self, said: JsonObject) -> Any:
        """`enum` and `const` of texts, whole numbers and null, those of the right type."""
        if not said.keys() <= {"type", "enum"} and not said.keys() <= {"type", "const"}:
            raise _NoType
        values = said["enum"] if "enum" in said else [said["const"]]
        kinds = _names_of(said.get("type", list(_LISTABLE.values())))
        if not all(type(value) in _LISTABLE and (type(value) is not int or abs(value) < _MAX_EXACT) for value in values):
            raise _NoType
        fitting = tuple(value for value in values if _LISTABLE[type(value)] in kinds)
        if not fitting:
            raise _NoType
        return Literal[fitting]

    def typed(self, said: JsonObject) -> Any:
        """`type`, one or several, with the keywords of each."""
        names = _names_of(said["type"])
        known = {"type"}.union(*(_KINDS[name][0] for name in names))
        if not said.keys() <= known:
            raise _NoType
        return reduce(or_, [_KINDS[name][1](self, said) for name in names])

    def object(self, said: JsonObject) -> Any:
        """A struct; a dictionary where no names are given."""
        properties, required = said.get("properties", {}), said.get("required", [])
        others = said.get("additionalProperties", True)
        names = {**properties, **{name: True for name in required if name not in properties}}
        if not names:
            return GenericAlias(dict, (str, self.make(others)))
        if not isinstance(others, bool) or len(names) > MAX_FIELDS or not all(map(_NAME.fullmatch, names)):
            raise _NoType
        if not others and len(names) > len(properties):
            raise _NoType
        self._count(28 * len(names) - 43)
        return self._members({name: self.make(schema) for name, schema in names.items()}, required, open_ended=others)

    def _anything(self) -> Any:
        return Any

    def _members(self, made: Mapping[str, Any], required: Sequence[str], *, open_ended: bool) -> Any:
        """The type of an object with these members."""
        fields = {name: f"f{place}" for place, name in enumerate(made)}
        return defstruct(
            "Value",
            # A default is not judged, so that what may be absent needs no type of its own.
            [(fields[name], kind) if name in required else (fields[name], kind, UNSET) for name, kind in made.items()],
            rename={field: name for name, field in fields.items()},
            forbid_unknown_fields=not open_ended,
            kw_only=True,
            gc=False,
        )

    def array(self, said: JsonObject) -> Any:
        self._count(-45)
        self._times *= _USUAL_ITEMS
        items = GenericAlias(list, (self.make(said.get("items", True)),))
        self._times //= _USUAL_ITEMS
        return _sized(items, said.get("minItems"), said.get("maxItems"))

    def string(self, said: JsonObject) -> Any:
        return _sized(str, said.get("minLength"), said.get("maxLength"))

    def integer(self, said: JsonObject) -> Any:
        return _bounded(int, **self._bounds(said))

    def number(self, said: JsonObject) -> Any:
        """Not a float alone: whole numbers would be rounded before they are compared."""
        bounds = self._bounds(said)
        return _bounded(int, **bounds) | _bounded(float, **{name: float(bound) for name, bound in bounds.items()})

    def _bounds(self, said: JsonObject) -> dict[str, int]:
        bounds = {_BOUNDS[name]: _whole(said[name]) for name in _BOUNDS if name in said}
        if {"ge", "gt"} <= bounds.keys() or {"le", "lt"} <= bounds.keys():
            raise _NoType
        self._count(15 * len(bounds))
        return bounds


class _PlainMaker(_Maker):
    """Makes types whose values are plain JSON, no deeper than it may be."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        super().__init__(definitions)
        self._depth = 0

    def make(self, schema: Any) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NoType
        made = super().make(schema)
        self._depth -= 1
        return made

    def _anything(self) -> Any:
        raise _NoType

    def _members(self, made: Mapping[str, Any], required: Sequence[str], *, open_ended: bool) -> Any:  # noqa: ARG002
        """A dictionary, into which members that are not named here do not come."""
        return _dictionary("Value", {name: kind if name in required else NotRequired[kind] for name, kind in made.items()})


class _ClosedMaker(_PlainMaker):
    """Makes such types of objects that name all their members."""

    def _members(self, made: Mapping[str, Any], required: Sequence[str], *, open_ended: bool) -> Any:
        if open_ended:
            raise _NoType
        return super()._members(made, required, open_ended=open_ended)


_dictionary: Final[Any] = TypedDict
"""For members that are known only now."""

_BOUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {"minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "exclusiveMaximum": "lt"}
)
"""Keyword to what msgspec calls it."""

_LEADING: Final[Mapping[str, Callable[[_Maker, JsonObject], Any]]] = MappingProxyType(
    {
        "$ref": _Maker.reference,
        "anyOf": _Maker.any_of,
        "enum": _Maker.listed,
        "const": _Maker.listed,
        "type": _Maker.typed,
    }
)
"""The keyword that says what the schema is about; the first that is there."""

_KINDS: Final[Mapping[str, tuple[frozenset[str], Callable[[_Maker, JsonObject], Any]]]] = MappingProxyType(
    {
        "object": (frozenset({"properties", "required", "additionalProperties"}), _Maker.object),
        "array": (frozenset({"items", "minItems", "maxItems"}), _Maker.array),
        "string": (frozenset({"minLength", "maxLength"}), _Maker.string),
        "integer": (frozenset(_BOUNDS), _Maker.integer),
        "number": (frozenset(_BOUNDS), _Maker.number),
        "boolean": (frozenset(), lambda _maker, _said: bool),
        "null": (frozenset(), lambda _maker, _said: NoneType),
    }
)
"""A type of JSON Schema to the keywords it can have beside it, and to the type."""

_LISTABLE: Final[Mapping[type, str]] = MappingProxyType({str: "string", int: "integer", NoneType: "null"})


def _names_of(named: Any) -> list[str]:
    """The types that are named; `number` is an integer too."""
    names = [named] if isinstance(named, str) else list(named)
    return [name for name in names if name != "integer"] if "number" in names else names


def _whole(bound: Any) -> int:
    if type(bound) not in (int, float) or abs(bound) > _MAX_EXACT or bound != int(bound):
        raise _NoType
    return int(bound)


def _sized(kind: Any, shortest: Any, longest: Any) -> Any:
    sizes = {"min_length": shortest, "max_length": longest}
    return _bounded(kind, **{name: _whole(size) for name, size in sizes.items() if size is not None})


def _bounded(kind: Any, **bounds: Any) -> Any:
    return Annotated[kind, Meta(**bounds)] if bounds else kind
