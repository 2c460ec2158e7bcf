"""Gives the objects of a file their parents, their order and the roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from strictwire.packs.unity.hierarchy.nodes import Built, Node
from strictwire.packs.unity.yaml.objects import Structure
from strictwire.packs.unity.yaml.values import maybe_file_id

_LAST: Final = 2**63
"""Sorts after every stored position."""


class _Child(NamedTuple):
    """An object of the file that has to be attached."""

    node: Node
    ids: tuple[int, ...]
    """What lists of children and roots may call it: its transform or its prefab instance."""
    father: int
    order: int


def link(built: Built, structure: Structure) -> None:
    """Attach every object of the file to its parent, or make it a root."""
    roots: list[_Child] = []
    below: dict[int, list[_Child]] = {}
    for child in _find_children(built, structure):
        if child.father:
            below.setdefault(child.father, []).append(child)
        else:
            roots.append(child)
    added = {each.file_id: each.index for instance in structure.instances.values() for each in instance.added_objects}
    for father, children in below.items():
        own, parent = structure.transforms.get(father), _find_parent(built, structure, father)
        if parent is None:
            roots += children
        elif own is not None:
            _attach(parent, _in_order(children, own.children))
        else:
            _insert(parent, _in_order(children, ()), added)
    built.roots = [each.node for each in _in_order(roots, structure.roots or ())]
    built.unreachable += _count_unreachable(structure)


def _find_children(built: Built, structure: Structure) -> Iterator[_Child]:
    for file_id, transform in structure.transforms.items():
        node = built.transforms.get(file_id)
        if node is not None and transform.game_object in structure.objects:
            yield _Child(node, (file_id,), transform.father, transform.order)
        else:
            built.dangling += 1
    handles: dict[int, list[int]] = {}
    for file_id, stripped in structure.stripped.items():
        handles.setdefault(stripped.instance, []).append(file_id)
    for file_id, instance in structure.instances.items():
        node = built.instances[file_id]
        orders = [each.value for each in instance.overrides if each.path == "m_RootOrder"]
        order = maybe_file_id(orders[-1]) if orders else None
        # Where the inside is not known, any handle of the instance is taken for its root.
        others = handles.get(file_id, ()) if node.obstacle else ()
        yield _Child(node, (node.transform_id, file_id, *others), instance.parent, _LAST if order is None else order)


def _find_parent(built: Built, structure: Structure, father: int) -> Node | None:
    """The object of a transform. A handle onto something unknown leads to the root of its instance."""
    parent = built.transforms.get(father)
    if parent is not None:
        return parent
    handle = structure.stripped.get(father)
    root = built.instances.get(handle.instance) if handle else None
    if root is None:
        built.dangling += 1
    else:
        built.unplaced += 1
    return root


def _in_order(children: list[_Child], listed: Sequence[int]) -> list[_Child]:
    """By their place in a list of ids, then by the order they store themselves, then as they stand in the file."""
    places = {file_id: place for place, file_id in enumerate(listed)}

    def place(child: _Child) -> tuple[int, int]:
        return min((places[each] for each in child.ids if each in places), default=len(places)), child.order

    return sorted(children, key=place)


def _attach(parent: Node, children: list[_Child]) -> None:
    for child in children:
        parent.children.append(child.node)
        child.node.parent = parent


def _insert(parent: Node, children: list[_Child], places: dict[int, int]) -> None:
    """Attach objects that were added to an instance: at the place that the instance stores, or at the end."""
    for child in children:
        index = next((places[each] for each in child.ids if each in places), -1)
        parent.children.insert(index if index >= 0 else len(parent.children), child.node)
        child.node.parent = parent


def _count_unreachable(structure: Structure) -> int:
    """Objects of the file that lead to no root when their parents are followed, because these form a cycle."""
    fathers = {file_id: each.father for file_id, each in structure.transforms.items()}
    for file_id, handle in structure.stripped.items():
        instance = structure.instances.get(handle.instance)
        fathers[file_id] = instance.parent if instance else 0
    ends: dict[int, bool] = {0: True}
    for file_id in fathers:
        trail, at = [], file_id
        while at not in ends:
            ends[at] = False  # until a root is met
            trail.append(at)
            at = fathers.get(at, 0)
        for each in trail if ends[at] else ():
            ends[each] = True
    return sum(1 for file_id in structure.transforms if not ends[file_id])
