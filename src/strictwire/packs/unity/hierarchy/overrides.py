"""What a prefab instance changes about its source, and stubs for sources that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from strictwire.packs.unity.hierarchy.nodes import Built, Node
from strictwire.packs.unity.hierarchy.sources import Obstacle, Source
from strictwire.packs.unity.hierarchy.tree import Frame, PlacedComponent
from strictwire.packs.unity.yaml.objects import Component, Instance, Override
from strictwire.packs.unity.yaml.values import maybe_file_id

_MODEL_ROOTS: Final = ((919132149155446097, -8679921383154817045), (100000, 400000))
"""GameObject and Transform of the root of an imported model, by the two generations of the importer's ids."""


def _set_layer(node: Node, text: str) -> None:
    layer = maybe_file_id(text)
    node.layer = node.layer if layer is None else layer


def _set_name(node: Node, text: str) -> None:
    node.name = text


def _set_tag(node: Node, text: str) -> None:
    node.tag = text


def _set_active(node: Node, text: str) -> None:
    node.active = text != "0"


_SETTERS: Final[Mapping[str, Callable[[Node, str], None]]] = {
    "m_Name": _set_name,
    "m_IsActive": _set_active,
    "m_TagString": _set_tag,
    "m_Layer": _set_layer,
}
"""Property paths that change what a tree shows of an object."""


def apply_instance(inner: Built, instance: Instance, frame: Frame) -> None:
    """Change a source that was just built. A target that the source does not have is stale, and Unity ignores it too."""
    for override in instance.overrides:
        node = inner.objects.get(override.target)
        if node is not None and override.path in _SETTERS:
            _SETTERS[override.path](node, override.value)
    if instance.removed_objects:
        _remove_objects(inner, instance.removed_objects)
    if instance.removed_components:
        _remove_components(inner, frozenset(instance.removed_components), frame)
    inner.roots[0].is_instance = True


def _remove_objects(inner: Built, targets: tuple[int, ...]) -> None:
    """Detach objects from their parents, one pass over each: an instance may remove 100,000 siblings."""
    parents: dict[int, Node] = {}
    for target in targets:
        node = inner.objects.get(target)
        if node is not None and node.parent is not None:
            parents[id(node.parent)] = node.parent
            node.parent = None
    for parent in parents.values():
        parent.children = [child for child in parent.children if child.parent is parent]


def _remove_components(inner: Built, removed: frozenset[int], frame: Frame) -> None:
    for node in inner.nodes:
        node.components = [each for each in node.components if _id_below(each, frame) not in removed]


def _id_below(placed: PlacedComponent, frame: Frame) -> int:
    """The id of a component in the source of an instance."""
    file_id, at = placed.file_id, placed.frame
    while at is not None and at is not frame:
        file_id, at = at.lift(file_id), at.outer
    return file_id


def add_component(node: Node, placed: PlacedComponent, index: int) -> None:
    """Add a component at a place; -1 is the end."""
    node.components.insert(index if index >= 0 else len(node.components), placed)


def make_stub(source: Source, instance: Instance, frame: Frame, obstacle: Obstacle) -> Built:
    """One object in the place of a source whose inside is not known."""
    built = Built()
    if obstacle is Obstacle.MODEL:
        file_id, transform_id = _model_root(instance, frame)
        components = [PlacedComponent(source.path, transform_id, Component("Transform", file_id), frame)]
    else:
        file_id, transform_id, components = _named_target(instance.overrides), 0, []
    node = Node(source.name, True, "Untagged", 0, file_id, transform_id, components, obstacle=obstacle)
    built.nodes.append(node)
    built.roots.append(node)
    built.objects[file_id] = node
    return built


def _model_root(instance: Instance, frame: Frame) -> tuple[int, int]:
    """Ids of the root of a model: those of the generation that the instance uses."""
    targets = {each.target for each in instance.overrides}
    for pair in _MODEL_ROOTS:
        if any(each in targets or each in frame.handles for each in pair):
            return pair
    return _MODEL_ROOTS[0]


def _named_target(overrides: tuple[Override, ...]) -> int:
    """The root of a source that is not there: every instance overrides the name of its root, and few another name."""
    named = {each.target for each in overrides if each.path == "m_Name"}
    return named.pop() if len(named) == 1 else 0
