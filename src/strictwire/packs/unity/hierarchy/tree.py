"""The tree that a scene or prefab expands to. Values only; `expand` makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.yaml.faults import Problem
from strictwire.packs.unity.yaml.objects import Component

POSITIVE: Final = 2**63 - 1
"""The bits that a derived id keeps."""


def nested_id(instance: int, source: int) -> int:
    """The id under which a prefab file knows an object of a prefab nested in it.

    The rule of Unity's files: it held for each of 3,233 stripped documents in the prefabs of open projects.
    """
    return (instance ^ source) & POSITIVE


class Frame(Struct, frozen=True):
    """One prefab instance on the way from the file that is expanded to an object."""

    path: str
    """The file that holds the PrefabInstance."""
    instance: int
    outer: Frame | None
    """The instance that this file is itself part of; None for the file that is expanded."""
    handles: Mapping[int, int]
    """Ids of the stripped documents of this instance in the file, by their ids in the source prefab."""

    def lift(self, source: int) -> int:
        """The id in the file of an object of the source prefab."""
        return self.handles.get(source) or nested_id(self.instance, source)


def outermost_id(file_id: int, frame: Frame | None) -> int:
    """The id of an object in the file that is expanded."""
    while frame is not None:
        file_id, frame = frame.lift(file_id), frame.outer
    return file_id


class PlacedComponent(Struct, frozen=True):
    """A component of an object of the tree."""

    path: str
    """The file that holds its document."""
    file_id: int
    """Its id there."""
    component: Component | None
    """None if the object lists a component that has no document."""
    frame: Frame | None = None
    """The instances between the file that is expanded and `path`, innermost first."""

    @property
    def outer_id(self) -> int:
        """Its id in the file that is expanded."""
        return outermost_id(self.file_id, self.frame)


class TreeNode(Struct, frozen=True):
    """A GameObject with everything below it."""

    name: str
    active: bool
    """Its own flag; an object below an inactive one is inactive in the scene whatever its own flag."""
    tag: str
    layer: int
    file_id: int
    """In the file that is expanded."""
    components: tuple[PlacedComponent, ...]
    children: tuple[TreeNode, ...]
    obstacle: Obstacle | None = None
    """Set on the root of an instance whose inside is not known."""
    is_instance: bool = False
    """Whether it is the root of a prefab instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What is incomplete about a tree."""

    obstacles: Mapping[Obstacle, tuple[str, ...]] = field(default_factory=dict)
    """Paths (or GUIDs) of prefabs and models whose inside is not known."""
    problems: tuple[Problem, ...] = ()
    """Damage of the file that is expanded."""
    dangling: int = 0
    """References to objects that are not in their file."""
    unreachable: int = 0
    """Objects that no root leads to, because their parents form a cycle."""
    unplaced: int = 0
    """Objects and components that are attached to parts of a model or of an unreadable prefab."""
    is_cut: bool = False
    """Whether instances were left out because the tree has too many objects."""
    is_late: bool = False
    """Whether instances were left out because time was up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A scene or prefab, expanded."""

    path: str
    roots: tuple[TreeNode, ...]
    findings: Findings
    objects: int
    """How many there are."""

    def walk(self) -> Iterator[tuple[int, TreeNode]]:
        """Every object with its depth, in the order of the hierarchy. Paths are left out: those of a deep tree are long."""
        waiting = [(0, root) for root in reversed(self.roots)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting += [(depth + 1, child) for child in reversed(node.children)]
