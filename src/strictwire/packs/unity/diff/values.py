"""Compares two values field by field. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from strictwire.packs.unity.yaml.values import Node


class Difference(NamedTuple):
    """One property that differs; None stands for one that is not there."""

    property: str
    before: Node | None
    after: Node | None


def compare(before: Node, after: Node, path: str = "") -> Iterator[Difference]:
    """The smallest properties that differ, in the order of the file. References are compared as a whole."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict) and "fileID" not in before and "fileID" not in after:
        yield from _compare_mappings(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(before, after, path)
    else:
        yield Difference(path, before, after)


_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d{1,9})\]")


def get_property(value: Node, path: str) -> Node | None:
    """The value at a property path of an override, such as `m_Materials.Array.data[0]`; None if there is none."""
    if path.endswith(".Array.size"):
        found = get_property(value, path.removesuffix(".Array.size"))
        return str(len(found)) if isinstance(found, list) else None
    for name, number in _STEP.findall(path.replace(".Array.data[", "[")):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and number and int(number) < len(value):
            value = value[int(number)]
        else:
            return None
    return value


def _compare_mappings(before: dict[str, Node], after: dict[str, Node], path: str) -> Iterator[Difference]:
    for name in (*before, *(name for name in after if name not in before)):
        below = f"{path}.{name}" if path else name
        if name in before and name in after:
            yield from compare(before[name], after[name], below)
        else:
            yield Difference(below, before.get(name), after.get(name))


def _compare_lists(before: list[Node], after: list[Node], path: str) -> Iterator[Difference]:
    """Entries that both ends have in common are left out, so that one insertion is one difference."""
    start = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    for number in range(max(len(old), len(new))):
        below = f"{path}[{start + number}]"
        if number < len(old) and number < len(new):
            yield from compare(old[number], new[number], below)
        else:
            yield Difference(below, old[number] if number < len(old) else None, new[number] if number < len(new) else None)
