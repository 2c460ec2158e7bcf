"""Objects while their tree is built, and the step from them to the frozen tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.hierarchy.tree import POSITIVE, Frame, PlacedComponent, TreeNode


@dataclass(slots=True, eq=False)
class Node:
    """A GameObject that can still change. Ids are those of the file being built."""

    name: str
    active: bool
    tag: str
    layer: int
    file_id: int
    transform_id: int
    components: list[PlacedComponent]
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    obstacle: Obstacle | None = None
    is_instance: bool = False


@dataclass(slots=True, eq=False)
class Built:
    """A file, built. Maps are by ids of that file."""

    nodes: list[Node] = field(default_factory=list)
    """Every object, those of instances included."""
    objects: dict[int, Node] = field(default_factory=dict)
    transforms: dict[int, Node] = field(default_factory=dict)
    instances: dict[int, Node] = field(default_factory=dict)
    """Roots of the prefab instances in the file."""
    roots: list[Node] = field(default_factory=list)
    dangling: int = 0
    """References to objects that are not in their file."""
    unreachable: int = 0
    """Objects whose parents form a cycle."""
    unplaced: int = 0
    """Objects and components attached to something whose inside is not known."""

    def merge(self, inner: Built, frame: Frame) -> None:
        """Take over the objects of an instance, which is complete."""
        instance, handles, objects, transforms = frame.instance, frame.handles, self.objects, self.transforms
        for node in inner.nodes:
            # Written out: with prefabs in prefabs every object passes here once for each level.
            source = node.file_id
            if source in handles:
                node.file_id = handles[source]
                objects[node.file_id] = node
            elif source:
                # A derived id is only a guess in scenes and may collide; the id of a document never gives way to one.
                node.file_id = derived = (instance ^ source) & POSITIVE
                objects.setdefault(derived, node)
            source = node.transform_id
            if source in handles:
                node.transform_id = handles[source]
                transforms[node.transform_id] = node
            elif source:
                node.transform_id = derived = (instance ^ source) & POSITIVE
                transforms.setdefault(derived, node)
        self.nodes += inner.nodes
        self.instances[frame.instance] = inner.roots[0]
        self.dangling += inner.dangling
        self.unreachable += inner.unreachable
        self.unplaced += inner.unplaced


def freeze(roots: Sequence[Node]) -> tuple[tuple[TreeNode, ...], int]:
    """The frozen tree and the number of its objects.

    Not recursive: a damaged file can nest objects more deeply than the stack is.
    """
    order, waiting = [], list(roots)
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += node.children
    frozen: dict[int, TreeNode] = {}
    for node in reversed(order):
        frozen[id(node)] = TreeNode(
            node.name,
            node.active,
            node.tag,
            node.layer,
            node.file_id,
            tuple(node.components),
            tuple([frozen.pop(id(child)) for child in node.children]),
            node.obstacle,
            node.is_instance,
        )
    return tuple(frozen[id(root)] for root in roots), len(order)
