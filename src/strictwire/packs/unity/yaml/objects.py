"""What structure-only mode finds: objects, transforms, components and prefab instances, without their data.

Structs, because a scene has tens of thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from strictwire.packs.unity.yaml.faults import Problem
from strictwire.packs.unity.yaml.values import Reference

GAME_OBJECT: Final = 1
TRANSFORM: Final = 4
MONO_BEHAVIOUR: Final = 114
RECT_TRANSFORM: Final = 224
PREFAB_INSTANCE: Final = 1001
SCENE_ROOTS: Final = 1660057539


class GameObject(Struct, frozen=True, gc=False):
    """A GameObject."""

    name: str
    active: bool
    tag: str
    layer: int
    components: tuple[int, ...]
    """File ids in the order of the inspector; the transform is one of them."""


class Transform(Struct, frozen=True, gc=False):
    """A Transform or RectTransform: the place of an object in the tree."""

    game_object: int
    father: int
    children: tuple[int, ...]
    order: int
    """m_RootOrder, which files had before SceneRoots; 0 where it is absent."""


class Component(Struct, frozen=True, gc=False):
    """Any component, transforms included."""

    type_name: str
    game_object: int
    script: Reference | None = None
    """m_Script of a MonoBehaviour."""
    editor_class: str = ""
    """m_EditorClassIdentifier, which names the type without its source. Only the newest files fill it."""


class Stripped(Struct, frozen=True, gc=False):
    """A document that stands for an object inside a prefab instance."""

    class_id: int
    source: int
    """The id of the object in the source prefab."""
    instance: int


class Override(Struct, frozen=True, gc=False):
    """A changed property of an instance that the tree shows: name, active, tag, layer, order."""

    target: int
    """An id of the source prefab."""
    path: str
    value: str


class Added(Struct, frozen=True, gc=False):
    """An object or component that was added to an instance."""

    target: int
    """The id in the source prefab of what it was added to."""
    index: int
    """The place among its siblings; -1 is the end."""
    file_id: int


class Instance(Struct, frozen=True, gc=False):
    """A PrefabInstance. Targets are ids of the source prefab."""

    source: Reference
    parent: int
    """The transform it is attached to; 0 for a root."""
    overrides: tuple[Override, ...] = ()
    removed_components: tuple[int, ...] = ()
    removed_objects: tuple[int, ...] = ()
    added_objects: tuple[Added, ...] = ()
    added_components: tuple[Added, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a scene or prefab is made of, by file id."""

    objects: Mapping[int, GameObject]
    transforms: Mapping[int, Transform]
    components: Mapping[int, Component]
    instances: Mapping[int, Instance]
    stripped: Mapping[int, Stripped]
    roots: tuple[int, ...] | None
    """Transforms and instances in the order of SceneRoots; None without one."""
    problems: tuple[Problem, ...]
    """Damage of the file as a whole; see `index.find_problems`."""
