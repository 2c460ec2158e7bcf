"""The mistakes that callers make daily, found without the general engine: another type, a name that is missing or unknown.

By the program of the schema (`judge`), and only where nothing else is wrong: whatever is, or may be, is left to the engine.
Not here: the words for them (`conform`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType, NoneType
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonValue
from strictwire.contract.judge import BOOL, DICT, FLOAT, INT, LIST, NOTHING, NULL, STR, Node, Program
from strictwire.contract.schema import escape_pointer

Mistake: TypeAlias = tuple[str, str, str, str]
"""Path, keyword, what was expected, what was met."""

MAX_MISTAKES: Final = 10
"""More than this are left to the engine, which sees to it that the rest does not crowd out what matters (`conform`)."""


class _Unsure(Exception):
    """Somebody else has to look."""


def finder(program: Program) -> Callable[[JsonValue], list[Mistake] | None]:
    """Finds all mistakes of a value, in no particular order; None where somebody else has to look."""
    walker = _Walker(program)

    def find(value: JsonValue) -> list[Mistake] | None:
        found: list[Mistake] = []
        try:
            walker.walk(0, value, "", None, found)
        except (_Unsure, RecursionError):
            return None
        return found if len(found) <= MAX_MISTAKES else None

    return find


class _Walker:
    """Walks over values by one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._places = [{name: place for name, place, _ in node.members} for node in program]
        self._bounded = [node[_FIRST_BOUND:_LAST_BOUND] != NO_NODE[_FIRST_BOUND:_LAST_BOUND] for node in program]
        self._required = [[name for name, _, required in node.members if required] for node in program]

    def walk(self, place: int, value: Any, above: str, token: str | int | None, found: list[Mistake]) -> None:
        """Add the mistakes of one value, which stands under a name or at a number above. Raises _Unsure."""
        node = NO_NODE if place == NOTHING else self._program[place]
        kind, actual = _KINDS.get(type(value), _NO_KIND)
        if node.listed is not None or node.choices or not kind or len(found) > MAX_MISTAKES:
            raise _Unsure
        if kind & node.kinds:
            if self._bounded[place]:
                _FITS[kind](node, value)
            if kind == DICT:
                self._walk_members(place, node, value, _path(above, token), found)
            elif kind == LIST:
                path = _path(above, token)
                for index, item in enumerate(value):
                    self.walk(node.items, item, path, index, found)
            return
        expected = _NAMES.get(node.kinds)
        if expected is None or kind == FLOAT:  # one that is whole is an integer too
            raise _Unsure
        found.append((_path(above, token), "type", expected, actual))

    def _walk_members(self, place: int, node: Node, value: dict[str, Any], path: str, found: list[Mistake]) -> None:
        places = self._places[place]
        for name, part in value.items():
            inner = places.get(name, node.others)
            if inner == NOTHING and name not in places:
                if not places:  # nothing may be there at all, which the engine says in another way
                    raise _Unsure
                found.append((_path(path, name), "additionalProperties", "", ""))
            else:
                self.walk(inner, part, path, name, found)
        found += [(_path(path, name), "required", "", "") for name in self._required[place] if name not in value]


def _path(above: str, token: str | int | None) -> str:
    """Made for what is wrong alone, and for what has parts: most values are neither."""
    if token is None:
        return above
    return f"{above}/{escape_pointer(token)}" if type(token) is str else f"{above}/{token}"


NO_NODE: Final = Node(kinds=0)
"""No value fits, and there is no type to name."""

_FIRST_BOUND: Final = Node._fields.index("low")
_LAST_BOUND: Final = Node._fields.index("max_names") + 1
"""Between which the bounds of a node stand."""

_NO_KIND: Final = (0, "")

_KINDS: Final[Mapping[type, tuple[int, str]]] = MappingProxyType(
    {
        NoneType: (NULL, "null"),
        bool: (BOOL, "boolean"),
        int: (INT, "integer"),
        float: (FLOAT, "number"),
        str: (STR, "string"),
        list: (LIST, "array"),
        dict: (DICT, "object"),
    }
)

_NAMES: Final[Mapping[int, str]] = MappingProxyType(
    {
        NULL: "null",
        BOOL: "boolean",
        INT: "integer",
        INT | FLOAT: "number",
        STR: "string",
        LIST: "array",
        DICT: "object",
    }
)
"""Kinds to the one type that they are."""


def _is_between(low: int, size: float, high: int) -> None:
    if not low <= size <= high:
        raise _Unsure


def _fits_number(node: Node, value: float) -> None:
    _is_between(node.low, value, node.high)
    if (node.low_open and value == node.low) or (node.high_open and value == node.high):
        raise _Unsure


_FITS: Final[Mapping[int, Callable[[Node, Any], None]]] = MappingProxyType(
    {
        NULL: lambda _node, _value: None,
        BOOL: lambda _node, _value: None,
        INT: _fits_number,
        FLOAT: _fits_number,
        STR: lambda node, value: _is_between(node.min_chars, len(value), node.max_chars),
        LIST: lambda node, value: _is_between(node.min_items, len(value), node.max_items),
        DICT: lambda node, value: _is_between(node.min_names, len(value), node.max_names),
    }
)
"""Whether a value of the right kind is within its bounds. Raises _Unsure."""
