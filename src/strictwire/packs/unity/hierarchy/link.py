"""Gives the objects of a file their parents, their order and the roots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from strictwire.packs.unity.hierarchy.nodes import Built, Node
from strictwire.packs.unity.hierarchy.plan import NO_HANDLES, Plan
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


def link(built: Built, plan: Plan) -> None:
    """Attach every object of the file to its parent, or make it a root."""
    structure = plan.structure
    roots: list[_Child] = []
    below: dict[int, list[_Child]] = {}
    for child in _find_children(built, plan):
        if child.father:
            below.setdefault(child.father, []).append(child)
        else:
            roots.append(child)
    for father, children in below.items():
        own, parent = structure.transforms.get(father), _find_parent(built, structure, father)
        if parent is None:
            roots += children
        elif own is not None:
            _attach(parent, _in_order(children, own.children))
        else:
            _insert(parent, _in_order(children, ()), plan.places)
    built.roots = [each.node for each in _in_order(roots, structure.roots or ())]
    built.unreachable += plan.unreachable


def _find_children(built: Built, plan: Plan) -> Iterator[_Child]:
    structure = plan.structure
    for file_id, transform in structure.transforms.items():
        node = built.transforms.get(file_id)
        if node is not None and transform.game_object in structure.objects:
            yield _Child(node, (file_id,), transform.father, transform.order)
        else:
            built.dangling += 1
    for file_id, instance in structure.instances.items():
        node = built.instances[file_id]
        orders = [each.value for each in instance.overrides if each.path == "m_RootOrder"]
        order = maybe_file_id(orders[-1]) if orders else None
        # Where the inside is not known, any handle of the instance is taken for its root.
        others = plan.handles.get(file_id, NO_HANDLES).values() if node.obstacle else ()
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
    if len(children) == 1:
        return children
    places = {file_id: place for place, file_id in enumerate(listed)}

    def place(child: _Child) -> tuple[int, int]:
        return min((places[each] for each in child.ids if each in places), default=len(places)), child.order

    return sorted(children, key=place)


def _attach(parent: Node, children: list[_Child]) -> None:
    for child in children:
        parent.children.append(child.node)
        child.node.parent = parent


def _insert(parent: Node, children: list[_Child], places: Mapping[int, int]) -> None:
    """Attach objects that were added to an instance: at the place that the instance stores, or at the end."""
    for child in children:
        index = next((places[each] for each in child.ids if each in places), -1)
        parent.children.insert(index if index >= 0 else len(parent.children), child.node)
        child.node.parent = parent
