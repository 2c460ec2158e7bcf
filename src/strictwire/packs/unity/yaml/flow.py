"""Flow collections of Unity YAML, such as `{fileID: 0}` and `{x: 0, y: 1, z: 0}`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from strictwire.packs.unity.yaml.scalars import read_quoted
from strictwire.packs.unity.yaml.values import BadValue, Node, Unfinished

MAX_FLOW_DEPTH: Final = 32
"""Nesting of flow collections. Unity writes one level: vectors, colours, references."""

_QUOTED: Final = re.compile(r"""'[^']*+(?:''[^']*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\"""")
_GAP: Final = re.compile(r"[ \t]*+")
_KEY: Final = re.compile(r"([^,:{}\[\]'\"]*+):(?=[ ,}\]]|$) *+")
_PLAIN: Final = re.compile(r"[^,{}\[\]]*+")
_CLOSING: Final = {"{": "}", "[": "]"}


def read_flow(text: str, more: Iterator[str]) -> Node:
    """A flow collection; Unity wraps long ones, so further lines are taken from `more`. Raises BadValue."""
    parts, depth = [text], _depth(text)
    while depth > 0:
        line = next(more, None)
        if line is None:
            raise Unfinished
        parts.append(line.strip(" "))
        depth += _depth(parts[-1])
    return parse_flow(" ".join(parts))


def is_closed(text: str) -> bool:
    """Whether a flow collection ends on the line it begins on."""
    return text[-1] in "}]" and _depth(text) <= 0


def _depth(text: str) -> int:
    if "'" in text or '"' in text:
        text = _QUOTED.sub("", text)
    return text.count("{") - text.count("}") + text.count("[") - text.count("]")


def maybe_simple_flow(text: str) -> Node | None:
    """A mapping of plain scalars on one line, which is nearly every flow collection; None for all others."""
    if text[0] != "{" or text.find("}") != len(text) - 1 or text.find("{", 1) >= 0:
        return None
    if "[" in text or "]" in text or "'" in text or '"' in text:
        return None
    if text[1] == " " or text[-2] == " ":  # padding, which Unity never writes and other tools do
        return None
    with suppress(ValueError):  # a part that is not `key: value`
        pairs: Any = [part.split(": ") for part in text[1:-1].split(", ")]
        return dict(pairs)
    return None


def parse_flow(text: str) -> Node:
    """A flow collection on one line. Raises BadValue."""
    simple = maybe_simple_flow(text)
    if simple is not None:
        return simple
    value, end = _read(text, 0, 0)
    if text[end:].strip(" "):
        raise BadValue
    return value


def _read(text: str, at: int, depth: int) -> tuple[Node, int]:
    """The value at a place and where it ends."""
    first = text[at : at + 1]
    if first in ("'", '"'):
        found = _QUOTED.match(text, at)
        if found is None:
            raise BadValue
        return read_quoted(found[0], iter(())), found.end()
    if first in _CLOSING:
        return _read_mapping(text, at, depth) if first == "{" else _read_sequence(text, at, depth)
    found = _PLAIN.match(text, at)
    return (found[0].strip(" "), found.end()) if found else ("", at)


def _read_mapping(text: str, at: int, depth: int) -> tuple[Node, int]:
    mapping: dict[str, Node] = {}
    at = _enter(text, at, depth)
    while text[at : at + 1] != "}":
        key = _KEY.match(text, at)
        if key is None:
            raise BadValue
        value, at = _read(text, key.end(), depth + 1)
        mapping[key[1].strip(" ")] = value
        at = _after_item(text, at, "}")
    return mapping, at + 1


def _read_sequence(text: str, at: int, depth: int) -> tuple[Node, int]:
    items: list[Node] = []
    at = _enter(text, at, depth)
    while text[at : at + 1] != "]":
        value, at = _read(text, at, depth + 1)
        items.append(value)
        at = _after_item(text, at, "]")
    return items, at + 1


def _enter(text: str, at: int, depth: int) -> int:
    if depth >= MAX_FLOW_DEPTH:
        raise BadValue
    return _skip(text, at + 1)


def _after_item(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise BadValue
    return at


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at
