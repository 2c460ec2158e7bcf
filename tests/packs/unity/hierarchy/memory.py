"""Prefabs from the builder of a generated project, without a disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Placed

from strictwire.packs.unity.hierarchy.expand import Limits, build_tree
from strictwire.packs.unity.hierarchy.sources import Obstacle, Source
from strictwire.packs.unity.hierarchy.tree import Tree, TreeNode
from strictwire.packs.unity.yaml.structure import read_structure


class MemorySources:
    """See hierarchy.sources.Sources."""

    def __init__(self, builder: ProjectBuilder) -> None:
        self.files = builder.finish()
        self._paths = {guid: path for path, guid in builder.guids.items()}
        self._known: dict[str, Source] = {}

    def find(self, guid: str) -> Source:
        if guid not in self._known:
            self._known[guid] = self._find(guid)
        return self._known[guid]

    def _find(self, guid: str) -> Source:
        path = self._paths.get(guid, "")
        name = PurePosixPath(path).stem
        if path not in self.files:
            return Source(path=guid, name="Missing", obstacle=Obstacle.ABSENT)
        if not path.endswith(".prefab"):
            return Source(path=path, name=name, obstacle=Obstacle.MODEL)
        return Source(path=path, name=name, structure=read_structure(self.files[path]))


def tree_of(builder: ProjectBuilder, path: str, **limits: Any) -> Tree:
    """The tree of a file of a builder."""
    sources = MemorySources(builder)
    return build_tree(path, read_structure(sources.files[path]), sources, Limits(**limits))


def shown(node: TreeNode, id_of: Callable[[int], int] = lambda file_id: file_id) -> tuple[Any, ...]:
    """A node of the reader, for comparing. Scenes number what is inside instances as they like."""
    components = [(each.component.type_name, id_of(each.outer_id)) for each in node.components if each.component]
    return (
        node.name, node.active, node.tag, node.layer, id_of(node.file_id), components,
        [shown(child, id_of) for child in node.children],
    )  # fmt: skip


def placed(node: Placed, id_of: Callable[[int], int] = lambda file_id: file_id) -> tuple[Any, ...]:
    """A node of the model, for comparing."""
    components = [(each.type, id_of(each.file_id)) for each in node.components]
    return (
        node.name, node.active, node.tag, node.layer, id_of(node.file_id), components,
        [placed(child, id_of) for child in node.children],
    )  # fmt: skip


def outline(tree: Tree) -> list[str]:
    """Paths in the order of the hierarchy."""
    names: list[str] = []
    paths = []
    for depth, node in tree.walk():
        names[depth:] = [node.name]
        paths.append("/".join(names))
    return paths
