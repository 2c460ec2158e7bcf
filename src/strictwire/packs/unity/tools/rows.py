"""The objects of a tree as rows: every object with its path, depth and a number that stands for its instance id. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.hierarchy.tree import Tree, TreeNode

MAX_DEPTH: Final = 48
"""Levels of one answer. JSON nests two levels for each, and strict readers stop at 128."""

MAX_LEVELS: Final = 256
"""Levels of a tree that are looked at. The deepest of the open projects that were measured has 16."""

MAX_PATHS: Final = 50_000_000
"""Characters of all paths together: a path repeats the names of all objects above, so a deep tree has long ones."""

_INT31: Final = 2**31 - 1
_MIXER: Final = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: multiplying by it spreads ids evenly."""


class Row(NamedTuple):
    """One object."""

    node: TreeNode
    path: str
    depth: int
    instance_id: int


def instance_id_of(file_id: int) -> int:
    """A positive 31-bit number for a file id: the id itself if it is one, otherwise derived from it.

    The Editor assigns instance ids when it loads an object, and clients read them as 32-bit integers.
    """
    if 0 < file_id <= _INT31:
        return file_id
    return ((file_id * _MIXER) % 2**64 >> 33) or 1


class Rows(NamedTuple):
    """The objects of a tree, in the order of the hierarchy."""

    rows: list[Row]
    is_cut: bool
    """Whether objects are left out that are nested beyond MAX_LEVELS, or whose paths are longer than MAX_PATHS together."""


def list_rows(tree: Tree) -> Rows:
    """Every object with its path. No two have the same instance id."""
    rows: list[Row] = []
    used: dict[int, int] = {}
    waiting = [(root.name, 0, root) for root in reversed(tree.roots)]
    left, is_cut = MAX_PATHS, False
    while waiting:
        path, depth, node = waiting.pop()
        left -= len(path)
        if left < 0:
            return Rows(rows, True)
        rows.append(Row(node, path, depth, _unused(instance_id_of(node.file_id), used)))
        if depth < MAX_LEVELS:
            waiting += [(f"{path}/{child.name}", depth + 1, child) for child in reversed(node.children)]
        else:
            is_cut = is_cut or bool(node.children)
    return Rows(rows, is_cut)


def _unused(number: int, used: dict[int, int]) -> int:
    """The number, or the next one that is free; taken. `used` maps a taken number to where to look on.

    Instances whose prefab is absent have no file id, so 50,000 objects may ask for the same number.
    """
    start = number
    while number in used:
        number = used[number]
    used[number] = used[start] = number % _INT31 + 1
    return number


def subtree(rows: Sequence[Row], start: int) -> Iterator[Row]:
    """A row and everything below it."""
    yield rows[start]
    for place in range(start + 1, len(rows)):
        if rows[place].depth <= rows[start].depth:
            return
        yield rows[place]


def without_inactive(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows that are active and below nothing inactive."""
    hidden: int | None = None
    for row in rows:
        if hidden is not None and row.depth > hidden:
            continue
        hidden = None if row.node.active else row.depth
        if row.node.active:
            yield row


def nest(rows: Sequence[Row], show: Callable[[Row], JsonObject]) -> list[JsonObject]:
    """The rows as a forest. An object whose parent is not among the rows stands at the top; its path tells its place."""
    top: list[JsonObject] = []
    open_rows: list[tuple[int, list[Any]]] = []
    for row in rows:
        while open_rows and open_rows[-1][0] >= row.depth:
            open_rows.pop()
        shown = show(row)
        children: list[Any] = []
        shown["children"] = children
        (open_rows[-1][1] if open_rows else top).append(shown)
        open_rows.append((row.depth, children))
    return top
