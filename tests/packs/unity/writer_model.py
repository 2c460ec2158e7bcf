"""What a generated scene or prefab contains, as values with explicit file ids, and the tree that readers must find.

`expand` is the reference for readers: it places prefabs by the rules of the format without reading any file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from random import Random
from typing import Final, TypeAlias

from tests.packs.unity.writer_yaml import NULL, Ref, Value

MASK: Final = 2**63 - 1
MODEL_OBJECT: Final = 919132149155446097
MODEL_TRANSFORM: Final = -8679921383154817045
"""Ids of the root of an imported model, for models imported with fileIdsGeneration 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A component other than the transform. A script is named by the path of its asset."""

    file_id: int
    type: str
    script: str = ""
    fields: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A GameObject that is written in the file itself."""

    file_id: int
    transform_id: int
    name: str
    active: bool = True
    tag: str = "Untagged"
    layer: int = 0
    position: tuple[float, float, float] = (0, 0, 0)
    is_ui: bool = False
    components: tuple[Component, ...] = ()
    children: tuple[Child, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """One entry of m_Modifications; `target` is an id of the source prefab."""

    target: int
    path: str
    value: str = ""
    reference: Ref = NULL


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A PrefabInstance. Every target is an id of the source prefab, nested prefabs included."""

    file_id: int
    source: str
    """Path of the prefab or model."""
    overrides: tuple[Override, ...] = ()
    removed_components: tuple[int, ...] = ()
    removed_objects: tuple[int, ...] = ()
    added_objects: tuple[tuple[int, Child], ...] = ()
    """Target GameObject and what is parented to it."""
    added_components: tuple[tuple[int, Component], ...] = ()


Child: TypeAlias = "Node | Instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefab:
    """A .prefab file; a root that is an Instance makes it a variant."""

    path: str
    root: Child


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A .unity file."""

    path: str
    roots: tuple[Child, ...] = ()
    has_scene_roots: bool = True
    """Whether the file has a SceneRoots document, as newer editors write; otherwise transforms have m_RootOrder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedComponent:
    """A component of the expanded tree."""

    type: str
    file_id: int
    script: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A GameObject of the expanded tree. Ids are those of the file that was expanded."""

    name: str
    file_id: int
    active: bool
    tag: str
    layer: int
    components: tuple[PlacedComponent, ...]
    """The transform first."""
    children: tuple[Placed, ...] = ()

    @property
    def transform_id(self) -> int:
        """Id of the transform."""
        return self.components[0].file_id

    def walk(self, above: str = "") -> list[tuple[str, Placed]]:
        """Every node with its path, depth first."""
        path = f"{above}/{self.name}" if above else self.name
        return [(path, self), *(found for child in self.children for found in child.walk(path))]


class Ids:
    """Fresh file ids. Prefabs get 63-bit ids and scenes mostly 31-bit ones, a few of them negative, as in real files."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._used = {0}

    def __call__(self, bits: int = 63) -> int:
        while (made := self._rng.getrandbits(bits) | 1 << (bits - 2)) in self._used:
            continue
        self._used.add(made)
        return -made if bits > 32 and made % 16 == 3 else made


def nested_id(instance: int, source: int) -> int:
    """The id under which an object of a nested prefab is known in the outer prefab."""
    return (instance ^ source) & MASK


def stripped_id(instance: int, source: int, *, in_prefab: bool) -> int:
    """The id of a stripped document. In scenes it is arbitrary."""
    if in_prefab:
        return nested_id(instance, source)
    digest = hashlib.sha256(f"{instance}:{source}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & MASK


def expand(child: Child, prefabs: Mapping[str, Prefab]) -> Placed:
    """The tree below a node or instance, prefabs resolved."""
    return _place_node(child, prefabs) if isinstance(child, Node) else _place_instance(child, prefabs)


def expand_scene(scene: Scene, prefabs: Mapping[str, Prefab]) -> tuple[Placed, ...]:
    """The roots of a scene, in order."""
    return tuple(expand(root, prefabs) for root in scene.roots)


def _place_node(node: Node, prefabs: Mapping[str, Prefab]) -> Placed:
    transform = PlacedComponent(type="RectTransform" if node.is_ui else "Transform", file_id=node.transform_id)
    own = [_placed(each) for each in node.components]
    return Placed(
        name=node.name,
        file_id=node.file_id,
        active=node.active,
        tag=node.tag,
        layer=node.layer,
        components=(transform, *own),
        children=tuple(expand(child, prefabs) for child in node.children),
    )


def _placed(component: Component) -> PlacedComponent:
    return PlacedComponent(type=component.type, file_id=component.file_id, script=component.script)


def _place_instance(instance: Instance, prefabs: Mapping[str, Prefab]) -> Placed:
    source = expand_source(instance.source, prefabs)
    return _apply(source, instance, prefabs)


def expand_source(path: str, prefabs: Mapping[str, Prefab]) -> Placed:
    """What an instance of this path copies; a model is one bare node."""
    if path in prefabs:
        return expand(prefabs[path].root, prefabs)
    transform = PlacedComponent(type="Transform", file_id=MODEL_TRANSFORM)
    name = PurePosixPath(path).stem
    return Placed(name=name, file_id=MODEL_OBJECT, active=True, tag="Untagged", layer=0, components=(transform,))


_OVERRIDABLE: Final = {
    "m_Name": ("name", str),
    "m_IsActive": ("active", lambda text: text == "1"),
    "m_TagString": ("tag", str),
    "m_Layer": ("layer", int),
}


def _apply(node: Placed, instance: Instance, prefabs: Mapping[str, Prefab]) -> Placed:
    changes = {}
    for override in instance.overrides:
        if override.target == node.file_id and override.path in _OVERRIDABLE:
            name, read = _OVERRIDABLE[override.path]
            changes[name] = read(override.value)
    kept = [each for each in node.components if each.file_id not in instance.removed_components]
    moved = [replace(each, file_id=nested_id(instance.file_id, each.file_id)) for each in kept]
    moved += [_placed(component) for target, component in instance.added_components if target == node.file_id]
    children = [_apply(child, instance, prefabs) for child in node.children if child.file_id not in instance.removed_objects]
    children += [expand(child, prefabs) for target, child in instance.added_objects if target == node.file_id]
    return replace(
        node,
        file_id=nested_id(instance.file_id, node.file_id),
        components=tuple(moved),
        children=tuple(children),
        **changes,
    )
