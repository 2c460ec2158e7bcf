"""Turns the model of a scene or prefab into the documents that Unity would write for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.packs.unity.writer_model import (
    Child,
    Component,
    Instance,
    Node,
    Placed,
    Prefab,
    Scene,
    expand_source,
    stripped_id,
)
from tests.packs.unity.writer_yaml import NULL, Document, Ref, Value, vector

CLASS_IDS: Final[Mapping[str, int]] = {
    "GameObject": 1,
    "Transform": 4,
    "Camera": 20,
    "MeshRenderer": 23,
    "MeshFilter": 33,
    "Rigidbody": 54,
    "BoxCollider": 65,
    "AudioListener": 81,
    "AudioSource": 82,
    "Animator": 95,
    "Light": 108,
    "MonoBehaviour": 114,
    "SpriteRenderer": 212,
    "CanvasRenderer": 222,
    "Canvas": 223,
    "RectTransform": 224,
    "PrefabInstance": 1001,
}

SCENE_ROOTS: Final = (1660057539, 9223372036854775807)

_ORIGIN: Final[Mapping[str, Value]] = {
    "m_ObjectHideFlags": 0,
    "m_CorrespondingSourceObject": NULL,
    "m_PrefabInstance": NULL,
    "m_PrefabAsset": NULL,
}


@dataclass(slots=True, kw_only=True)
class FileWriter:
    """Collects the documents of one file."""

    guid_of: Callable[[str], str]
    """GUID of an asset by its path."""
    prefabs: Mapping[str, Prefab]
    in_prefab: bool
    writes_root_order: bool = False
    documents: list[Document] = field(default_factory=list)
    _stripped: dict[int, Document] = field(default_factory=dict)

    def add_child(self, child: Child, father: int, order: int = 0) -> int:
        """Write a node or instance below a transform; the id of its own transform."""
        if isinstance(child, Node):
            return self._add_node(child, father, order)
        return self._add_instance(child, father)

    def finish(self) -> list[Document]:
        """Everything that was written, stripped documents included."""
        return [*self.documents, *self._stripped.values()]

    def _add(self, type_name: str, file_id: int, body: Mapping[str, Value]) -> None:
        document = Document(class_id=CLASS_IDS[type_name], file_id=file_id, type_name=type_name, body=body)
        self.documents.append(document)

    def _add_node(self, node: Node, father: int, order: int) -> int:
        ids = [node.transform_id, *(component.file_id for component in node.components)]
        body = {
            **_ORIGIN,
            "serializedVersion": 6,
            "m_Component": [{"component": Ref(each)} for each in ids],
            "m_Layer": node.layer,
            "m_Name": node.name,
            "m_TagString": node.tag,
            "m_Icon": NULL,
            "m_NavMeshLayer": 0,
            "m_StaticEditorFlags": 0,
            "m_IsActive": int(node.active),
        }
        self._add("GameObject", node.file_id, body)
        place = len(self.documents)
        children = [self.add_child(child, node.transform_id, number) for number, child in enumerate(node.children)]
        self.documents.insert(place, self._transform(node, father, children, order))
        for component in node.components:
            self._add_component(component, node.file_id)
        return node.transform_id

    def _transform(self, node: Node, father: int, children: list[int], order: int) -> Document:
        x, y, z = node.position
        body: dict[str, Value] = {
            **_ORIGIN,
            "m_GameObject": Ref(node.file_id),
            "serializedVersion": 2,
            "m_LocalRotation": vector(x=0, y=0, z=0, w=1),
            "m_LocalPosition": vector(x=x, y=y, z=z),
            "m_LocalScale": vector(x=1, y=1, z=1),
            "m_ConstrainProportionsScale": 0,
            "m_Children": [Ref(each) for each in children],
            "m_Father": Ref(father),
        }
        body |= {"m_RootOrder": order} if self.writes_root_order else {}
        body["m_LocalEulerAnglesHint"] = vector(x=0, y=0, z=0)
        if node.is_ui:
            body |= {name: vector(x=0.5, y=0.5) for name in ("m_AnchorMin", "m_AnchorMax", "m_Pivot")}
            body |= {"m_AnchoredPosition": vector(x=0, y=0), "m_SizeDelta": vector(x=160, y=30)}
        kind = "RectTransform" if node.is_ui else "Transform"
        return Document(class_id=CLASS_IDS[kind], file_id=node.transform_id, type_name=kind, body=body)

    def _add_component(self, component: Component, owner: int) -> None:
        body: dict[str, Value] = {**_ORIGIN, "m_GameObject": Ref(owner), "m_Enabled": 1}
        if component.type == "MonoBehaviour":
            script = Ref(11500000, self.guid_of(component.script), 3) if component.script else NULL
            body |= {"m_EditorHideFlags": 0, "m_Script": script, "m_Name": "", "m_EditorClassIdentifier": ""}
        self._add(component.type, component.file_id, {**body, **component.fields})

    def _add_instance(self, instance: Instance, father: int) -> int:
        source = expand_source(instance.source, self.prefabs)
        objects = {node.file_id: node for _, node in source.walk()}
        added = [self._added_object(instance, objects[target], child) for target, child in instance.added_objects]
        components = [self._added_component(instance, target, each) for target, each in instance.added_components]
        guid = self.guid_of(instance.source)
        modification: dict[str, Value] = {
            "serializedVersion": 3,
            "m_TransformParent": Ref(father),
            "m_Modifications": [
                {
                    "target": Ref(each.target, guid, 3),
                    "propertyPath": each.path,
                    "value": each.value,
                    "objectReference": each.reference,
                }
                for each in instance.overrides
            ],
            "m_RemovedComponents": [Ref(each, guid, 3) for each in instance.removed_components],
            "m_RemovedGameObjects": [Ref(each, guid, 3) for each in instance.removed_objects],
            "m_AddedGameObjects": added,
            "m_AddedComponents": components,
        }
        body = {
            "m_ObjectHideFlags": 0,
            "serializedVersion": 2,
            "m_Modification": modification,
            "m_SourcePrefab": Ref(100100000, guid, 3),
        }
        self._add("PrefabInstance", instance.file_id, body)
        if father:
            return self._strip(instance, source.transform_id, source.components[0].type)
        return instance.file_id

    def _added_object(self, instance: Instance, target: Placed, child: Child) -> dict[str, Value]:
        parent = self._strip(instance, target.transform_id, target.components[0].type)
        made = self.add_child(child, parent)
        return _added_entry(Ref(target.transform_id, self.guid_of(instance.source), 3), made)

    def _added_component(self, instance: Instance, target: int, component: Component) -> dict[str, Value]:
        owner = self._strip(instance, target, "GameObject")
        self._add_component(component, owner)
        return _added_entry(Ref(target, self.guid_of(instance.source), 3), component.file_id)

    def _strip(self, instance: Instance, source_id: int, type_name: str) -> int:
        """The handle of an object inside an instance, written once."""
        made = stripped_id(instance.file_id, source_id, in_prefab=self.in_prefab)
        body = {
            "m_CorrespondingSourceObject": Ref(source_id, self.guid_of(instance.source), 3),
            "m_PrefabInstance": Ref(instance.file_id),
            "m_PrefabAsset": NULL,
        }
        self._stripped[made] = Document(
            class_id=CLASS_IDS[type_name], file_id=made, type_name=type_name, body=body, stripped=True
        )
        return made


def _added_entry(target: Ref, made: int) -> dict[str, Value]:
    return {"targetCorrespondingSourceObject": target, "insertIndex": -1, "addedObject": Ref(made)}


def prefab_documents(prefab: Prefab, prefabs: Mapping[str, Prefab], guid_of: Callable[[str], str]) -> list[Document]:
    """The documents of a .prefab file."""
    writer = FileWriter(guid_of=guid_of, prefabs=prefabs, in_prefab=True)
    writer.add_child(prefab.root, 0)
    return writer.finish()


def scene_documents(scene: Scene, prefabs: Mapping[str, Prefab], guid_of: Callable[[str], str]) -> list[Document]:
    """The documents of a .unity file."""
    writer = FileWriter(guid_of=guid_of, prefabs=prefabs, in_prefab=False, writes_root_order=not scene.has_scene_roots)
    roots = [writer.add_child(root, 0, number) for number, root in enumerate(scene.roots)]
    made = [*_scene_settings(), *writer.finish()]
    if scene.has_scene_roots:
        class_id, file_id = SCENE_ROOTS
        body = {"m_ObjectHideFlags": 0, "m_Roots": [Ref(each) for each in roots]}
        made.append(Document(class_id=class_id, file_id=file_id, type_name="SceneRoots", body=body))
    return made


def _scene_settings() -> Iterator[Document]:
    baking = {"smallestOccluder": 5, "smallestHole": 0.25, "backfaceThreshold": 100}
    culling = {
        "m_ObjectHideFlags": 0,
        "serializedVersion": 2,
        "m_OcclusionBakeSettings": baking,
        "m_SceneGUID": "0" * 32,
        "m_OcclusionCullingData": NULL,
    }
    yield Document(class_id=29, file_id=1, type_name="OcclusionCullingSettings", body=culling)
    light = {
        "m_ObjectHideFlags": 0,
        "serializedVersion": 9,
        "m_Fog": 0,
        "m_FogColor": vector(r=0.5, g=0.5, b=0.5, a=1),
        "m_SkyboxMaterial": Ref(10304, "0000000000000000f000000000000000", 0),
        "m_Sun": NULL,
    }
    yield Document(class_id=104, file_id=2, type_name="RenderSettings", body=light)
