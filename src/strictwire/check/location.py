"""Line and column of JSON pointers in a JSON text.

Not a validating parser: `canon` has already accepted the text. One walk resolves all pointers into a text and skips the
other values with the standard library's C scanner, because a listing of ten thousand tools may have a finding in each.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from strictwire.contract.schema import split_pointer

_decode = json.JSONDecoder().raw_decode
_SPACE: Final = " \t\r\n"

StepTree: TypeAlias = dict[str, Any]
"""The pointers to resolve, as a trie: each step maps to the steps below it."""


def locate(text: str, pointer: str) -> tuple[int, int]:
    """The line and column, from 1, of the value at the pointer; for an object member, of its name.

    A pointer that does not resolve gives the location of the deepest part that exists.
    """
    return locate_all(text, [pointer])[pointer]


def locate_all(text: str, pointers: Iterable[str]) -> Mapping[str, tuple[int, int]]:
    """`locate` for many pointers into one text, in one walk."""
    wanted = {pointer: split_pointer(pointer) for pointer in pointers}
    found = find_offsets(text, wanted.values())
    starts = _line_starts(text)
    return {pointer: _line_and_column(starts, _deepest(found, steps)) for pointer, steps in wanted.items()}


def find_offsets(text: str, paths: Iterable[tuple[str, ...]]) -> Mapping[tuple[str, ...], int]:
    """Where each path begins in the text: the name of a member, or an item. Paths that do not exist are left out."""
    tree: StepTree = {}
    for steps in paths:
        below = tree
        for step in steps:
            below = below.setdefault(step, {})
    start = _past_space(text, 0)
    found: dict[tuple[str, ...], int] = {(): start}
    _walk(text, start, tree, (), found)
    return found


def offset_location(raw: bytes, offset: int) -> tuple[int, int]:
    """The line and column of a byte offset. The bytes need not be valid UTF-8."""
    text = raw[:offset].decode("utf-8", "replace")
    return _line_and_column(_line_starts(text), len(text))


def _deepest(found: Mapping[tuple[str, ...], int], steps: tuple[str, ...]) -> int:
    return next(found[steps[:size]] for size in range(len(steps), -1, -1) if steps[:size] in found)


def _line_starts(text: str) -> list[int]:
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _line_and_column(starts: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def _walk(text: str, at: int, tree: StepTree, path: tuple[str, ...], found: dict[tuple[str, ...], int]) -> int:
    """Record the offsets of the wanted parts of the value at `at`. Returns the offset after the value."""
    if not tree or text[at] not in "{[":
        return _decode(text, at)[1]
    is_object = text[at] == "{"
    index = 0
    at = _past_space(text, at + 1)
    while text[at] not in "}]":
        start = at
        if is_object:
            name, at = _decode(text, at)
            at = _past_space(text, _past_space(text, at) + 1)
        else:
            name = str(index)
        below = tree.get(name)
        if below is not None:
            found[*path, name] = start
        at = _walk(text, at, below or {}, (*path, name), found)
        at = _past_space(text, at)
        if text[at] == ",":
            at = _past_space(text, at + 1)
        index += 1
    return at + 1


def _past_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
