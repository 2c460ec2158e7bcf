"""A faster yes for common schemas: the schema as a program that is walked over a value in C (`native`).

Only the yes counts: it says that the value fits, and that it is plain JSON throughout, so that it is written as it stands.
Everything else is left to the general engine and to `canon.json.as_json`: an integral float is an integer to JSON Schema and
none here. A schema with any keyword that is not handled here has no program. Not here: why a value does not fit (`conform`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType, NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from strictwire.canon.json import MAX_DEPTH, JsonObject, JsonValue
from strictwire.contract.schema import ANNOTATIONS
from strictwire.native import speed

Asked: TypeAlias = Callable[[JsonValue], bool]

MAX_NODES: Final = 2000
"""Of one program. Definitions are made once, however often they are referred to."""

NOTHING: Final = -1
"""In the place of a node: no value fits."""

NULL, BOOL, INT, FLOAT, STR, LIST, DICT = (1 << place for place in range(7))
KINDS: Final = (1 << 7) - 1

_MAX_EXACT: Final = 2**53
"""Whole numbers up to here are the same as floats."""

_AT_ROOT: Final = frozenset({"$schema", "$id", "$defs"})
"""What says nothing about a value there. Below the root an id changes what references mean, and is not handled."""
_REFERENCE: Final = "#/$defs/"


class Node(NamedTuple):
    """What may stand in one place. Bounds that say nothing are as wide as can be."""

    kinds: int = KINDS
    listed: tuple[JsonValue, ...] | None = None
    """All that fits, of these kinds."""
    low: int = -(2**63)
    low_open: bool = False
    """Whether the bound itself does not fit."""
    high: int = 2**63 - 1
    high_open: bool = False
    min_chars: int = 0
    max_chars: int = sys.maxsize
    min_items: int = 0
    max_items: int = sys.maxsize
    min_names: int = 0
    max_names: int = sys.maxsize
    items: int = NOTHING
    """The node of items."""
    others: int = NOTHING
    """That of members that no property names."""
    members: tuple[tuple[str, int, bool], ...] = ()
    """Name, node and whether it is required."""
    choices: tuple[int, ...] = ()
    """Nodes of which one has to fit; then nothing else here counts."""


Program: TypeAlias = tuple[Node, ...]
"""The first node is that of the value."""

ANYTHING: Final[Program] = (Node(items=0, others=0),)
"""Fits whatever is plain JSON."""


class _NoProgram(Exception):
    """The schema has a part that no node says exactly."""


def hasten(program: Program | None, is_valid: Asked) -> Asked:
    """The same judge, faster where it says yes and there is a program of its schema."""
    return is_valid if speed is None or program is None else speed.Judge(program, MAX_DEPTH, is_valid)


def maybe_voucher(program: Program | None, is_valid: Asked) -> Asked | None:
    """Whether a value fits and is plain JSON: at most a yes. None where nobody can tell quickly."""
    if speed is None:
        return None
    if program is not None:
        return speed.Judge(program, MAX_DEPTH, None)
    is_plain = speed.Judge(ANYTHING, MAX_DEPTH, None)
    return lambda value: is_plain(value) and is_valid(value)


def maybe_program(schema: JsonObject) -> Program | None:
    """The program of a schema; None if there is none."""
    maker = _Maker(schema.get("$defs"))
    try:
        maker.make({name: member for name, member in schema.items() if name not in _AT_ROOT})
    except (_NoProgram, RecursionError):  # definitions that lead from one to the next, hundreds of them
        return None
    return tuple(maker.nodes)


class _Maker:
    """Makes the nodes of one document, outermost first."""

    def __init__(self, definitions: Any) -> None:
        self._definitions: Mapping[str, Any] = definitions if isinstance(definitions, dict) else {}
        self._places: dict[str, int] = {}
        """Of definitions, also of those that are being made."""
        self.nodes: list[Node] = []

    def make(self, schema: Any) -> int:
        """The place of the node of a schema. Raises _NoProgram."""
        if schema is False:
            return NOTHING
        if schema is not True and not isinstance(schema, dict):
            raise _NoProgram
        said = {} if schema is True else _without_annotations(schema)
        if "$ref" in said:
            return self._refer(said)
        leading = next((name for name in _LEADING if name in said), "" if not said else None)
        if leading is None or len(self.nodes) >= MAX_NODES:
            raise _NoProgram
        place = len(self.nodes)
        self.nodes.append(Node())
        self.nodes[place] = _LEADING[leading](self, said, place)
        return place

    def _refer(self, said: JsonObject) -> int:
        """`$ref` to a definition of the document, alone."""
        name = str(said["$ref"]).removeprefix(_REFERENCE)
        if len(said) > 1 or said["$ref"] != _REFERENCE + name or name not in self._definitions:
            raise _NoProgram
        if name not in self._places:
            next_place = self._places[name] = len(self.nodes)
            self._places[name] = self.make(self._definitions[name])
            if next_place == self._places[name] == len(self.nodes):  # it says nothing but that it is itself
                raise _NoProgram
        return self._places[name]

    def anything(self, _said: JsonObject, place: int) -> Node:
        """No keywords."""
        return Node(items=place, others=place)

    def any_of(self, said: JsonObject, _place: int) -> Node:
        """`anyOf`, alone."""
        if len(said) > 1 or not said["anyOf"]:
            raise _NoProgram
        places = [self.make(each) for each in said["anyOf"]]
        return Node(choices=tuple(each for each in places if each != NOTHING) or (NOTHING,))

    def listed(self, said: JsonObject, _place: int) -> Node:
        """`enum` and `const` of texts, whole numbers, booleans and null, those of the right type."""
        if not said.keys() <= {"type", "enum"} and not said.keys() <= {"type", "const"}:
            raise _NoProgram
        values = said["enum"] if "enum" in said else [said["const"]]
        if not all(type(value) in _LISTABLE and (type(value) is not int or abs(value) < _MAX_EXACT) for value in values):
            raise _NoProgram
        kinds = _kinds_of(said["type"]) if "type" in said else KINDS
        return Node(kinds=kinds & (NULL | BOOL | INT | STR), listed=tuple(values))

    def typed(self, said: JsonObject, _place: int) -> Node:
        """`type`, one or several, with the keywords of each."""
        kinds = _kinds_of(said["type"])
        if not said.keys() <= {"type"}.union(*(_BESIDE[kind] for kind in _BESIDE if kind & kinds)):
            raise _NoProgram
        low, low_open = _bound(said, "minimum", "exclusiveMinimum", _NO_BOUNDS.low)
        high, high_open = _bound(said, "maximum", "exclusiveMaximum", _NO_BOUNDS.high)
        names = said.get("properties", {})
        required = frozenset(said.get("required", ()))
        sizes: dict[str, Any] = {field: _size(said[name]) for name, field in _SIZES.items() if name in said}
        members = {**names, **dict.fromkeys(sorted(required - names.keys()), said.get("additionalProperties", True))}
        node = Node(
            kinds=kinds,
            low=low,
            low_open=low_open,
            high=high,
            high_open=high_open,
            items=self.make(said.get("items", True)) if kinds & LIST else NOTHING,
            others=self.make(said.get("additionalProperties", True)) if kinds & DICT else NOTHING,
            members=tuple((name, self.make(part), name in required) for name, part in members.items())
            if kinds & DICT
            else (),
        )
        return node._replace(**sizes)


_NO_BOUNDS: Final = Node()

_TYPES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "null": NULL,
        "boolean": BOOL,
        "integer": INT,
        "number": INT | FLOAT,
        "string": STR,
        "array": LIST,
        "object": DICT,
    }
)

_LISTABLE: Final = frozenset({str, int, bool, NoneType})

_SIZES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minLength": "min_chars",
        "maxLength": "max_chars",
        "minItems": "min_items",
        "maxItems": "max_items",
        "minProperties": "min_names",
        "maxProperties": "max_names",
    }
)
"""Keyword to field of a node."""

_BESIDE: Final[Mapping[int, frozenset[str]]] = MappingProxyType(
    {
        INT: frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
        STR: frozenset({"minLength", "maxLength"}),
        LIST: frozenset({"items", "minItems", "maxItems"}),
        DICT: frozenset({"properties", "required", "additionalProperties", "minProperties", "maxProperties"}),
    }
)
"""Kind to the keywords that may stand beside its name. Those of other kinds would only judge what is refused already."""

_LEADING: Final[Mapping[str, Callable[[_Maker, JsonObject, int], Node]]] = MappingProxyType(
    {"anyOf": _Maker.any_of, "enum": _Maker.listed, "const": _Maker.listed, "type": _Maker.typed, "": _Maker.anything}
)
"""The keyword that says what the schema is about, the first that is there; none at all at the end."""


def _without_annotations(schema: JsonObject) -> JsonObject:
    return {name: member for name, member in schema.items() if name not in ANNOTATIONS and not name.startswith("x-")}


def _kinds_of(named: Any) -> int:
    kinds = 0
    for name in [named] if isinstance(named, str) else named:
        if kinds & _TYPES[name]:  # an integer that is a number too, or the other way round
            raise _NoProgram
        kinds |= _TYPES[name]
    return kinds


def _size(said: Any) -> int:
    size = _whole(said)
    if size < 0:
        raise _NoProgram
    return size


def _bound(said: JsonObject, closed: str, open_ended: str, none: int) -> tuple[int, bool]:
    """A bound of numbers, and whether it is open."""
    if closed in said and open_ended in said:
        raise _NoProgram
    if open_ended in said:
        return _whole(said[open_ended]), True
    return (_whole(said[closed]), False) if closed in said else (none, False)


def _whole(bound: Any) -> int:
    if type(bound) not in (int, float) or abs(bound) > _MAX_EXACT or bound != int(bound):
        raise _NoProgram
    return int(bound)
