"""Splits one line of Unity YAML into its level, its key and its value. Pure.

A *level* orders what may be open at a time: a mapping at column c has level 2c, a sequence 2c + 1. Unity writes a sequence
at the column of its key, so its level is one above that of the mapping that holds the key.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from strictwire.packs.unity.yaml.flow import is_closed, maybe_simple_flow, parse_flow
from strictwire.packs.unity.yaml.scalars import read_quoted
from strictwire.packs.unity.yaml.values import BadValue, Unfinished

MAX_DASHES: Final = 32
"""Sequences that may begin on one line (`- - -`). Unity writes one."""

ITEM_MAPPING: Final = 3
"""From the level of a sequence to that of a mapping that is one of its items: `- ` is two columns wide."""

OPEN: Final[Any] = object()
"""In the place of a value: nothing follows on the line. Deeper lines are the value; without any it is empty."""

NESTED: Final[Any] = object()
"""In the place of a key: the item is itself a sequence, whose first line is the value."""

NO_KEY: Final[Any] = object()
"""In the place of a key: the line has none. It can only be a scalar below its key."""

_QUOTED_KEY: Final = re.compile(r"""('[^']*+(?:''[^']*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+")\s*:(?: (.*))?$""", re.DOTALL)


class Line(NamedTuple):
    """One line, split."""

    level: int
    key: Any
    """Text; None for an item without a key; NESTED; NO_KEY."""
    value: Any
    """A Node, OPEN, an Unclosed, or with NESTED a Line."""


class Unclosed(NamedTuple):
    """A quoted scalar or a flow collection that goes on below."""

    text: str


def split_line(text: str, column: int) -> Line:
    """A line without its indentation, and the column it begins at. Raises BadValue."""
    if text[0] == "-" and (len(text) == 1 or text[1] == " "):
        return _split_item(text, column, MAX_DASHES)
    key, value = _split_key(text)
    return Line(2 * column, key, value)


def _split_item(text: str, column: int, dashes: int) -> Line:
    if not dashes:
        raise BadValue
    level, text = 2 * column + 1, text[2:].lstrip(" ")
    if not text:
        return Line(level, None, OPEN)
    if text[0] == "-" and (len(text) == 1 or text[1] == " "):
        return Line(level, NESTED, _split_item(text, column + 2, dashes - 1))
    key, value = (NO_KEY, _read_value(text)) if text[0] in "{[" else _split_key(text)
    return Line(level, None if key is NO_KEY else key, value)


def _split_key(text: str) -> tuple[Any, Any]:
    key, colon, value = text.partition(": ")
    if text[0] in "'\"":
        return _split_quoted_key(text)
    if colon:
        return key, (_read_value(value) if value else OPEN)
    if text[-1] == ":":
        return text[:-1], OPEN
    return NO_KEY, _read_value(text)


def _split_quoted_key(text: str) -> tuple[Any, Any]:
    found = _QUOTED_KEY.match(text)
    if found is None:
        return NO_KEY, _read_value(text)
    return str(read_quoted(found[1], iter(()))), (_read_value(found[2]) if found[2] else OPEN)


def _read_value(text: str) -> Any:
    first = text[0]
    if first == "{" or first == "[":
        simple = maybe_simple_flow(text)
        if simple is not None:
            return simple
        return parse_flow(text) if is_closed(text) else Unclosed(text)
    if first == "'" or first == '"':
        try:
            return read_quoted(text, iter(()))
        except Unfinished:
            return Unclosed(text)
    return text
