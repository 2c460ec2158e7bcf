"""Plants faults in a generated project. Each fault says which findings a check must make of it: exactly these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_assets import (
    add_address_group,
    add_asmdef,
    add_shadergraph,
    add_uss,
    add_uxml,
    asset_reference,
)
from tests.packs.unity.writer_model import Component, Instance, Node, Override, Prefab, Scene
from tests.packs.unity.writer_yaml import NULL, Document, Ref, Value, render_file

LFS: Final = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
PLACEHOLDER: Final = "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6"
OVERSIZE: Final = 60_000
"""Bytes of the oversized asset; checks of planted faults allow 50,000."""


@dataclass(slots=True)
class Plant:
    """A project under construction and the findings it must give, counted by rule and file."""

    builder: ProjectBuilder
    expected: Counter[tuple[str, str]] = field(default_factory=Counter)
    removed: list[str] = field(default_factory=list)
    """Files that are taken out again at the end."""

    def expect(self, rule: str, file: str) -> None:
        """Count one finding."""
        self.expected[rule, file] += 1

    def fresh_path(self, stem: str, extension: str) -> str:
        """A path that no asset has."""
        return f"Assets/Planted/{stem}{self.builder.rng.getrandbits(40):010x}{extension}"

    def scene(self, *roots: Node | Instance) -> str:
        """A new scene; its path."""
        path = self.fresh_path("Scene", ".unity")
        self.builder.add_scene(Scene(path=path, roots=roots), in_build=False)
        return path

    def node(self, *components: Component) -> Node:
        """A new node."""
        ids = self.builder.ids
        return Node(file_id=ids(31), transform_id=ids(31), name="Planted", components=components)

    def component(self, **fields: Value) -> Component:
        """A new component with an existing script."""
        script = self.script()
        return Component(file_id=self.builder.ids(31), type="MonoBehaviour", script=script, fields=fields)

    def script(self) -> str:
        """A new script."""
        path = self.fresh_path("Script", ".cs")
        self.builder.add_script(path)
        return path

    def edit(self, path: str, change: Callable[[Document], Document | None]) -> None:
        """Change or drop documents of a file."""
        documents = [made for each in self.builder.documents[path] if (made := change(each)) is not None]
        self.builder.documents[path] = documents
        self.builder.files[path] = render_file(documents)

    def finish(self) -> dict[str, bytes]:
        """All files of the faulty project."""
        files = self.builder.finish()
        for path in self.removed:
            files.pop(path, None)
        return files


def _set(document: Document, **fields: Value) -> Document:
    return replace(document, body={**document.body, **fields})


def deleted_script(plant: Plant) -> None:
    script = plant.script()
    users = [plant.node(Component(file_id=plant.builder.ids(31), type="MonoBehaviour", script=script)) for _ in range(2)]
    path = plant.scene(*users)
    plant.removed += [script, f"{script}.meta"]
    for _ in users:
        plant.expect("SCRIPT_EXISTS", path)


def script_with_meta_only(plant: Plant) -> None:
    """Unity deletes a .meta file without its asset, so the script is missing all the same."""
    script = plant.script()
    path = plant.scene(plant.node(Component(file_id=plant.builder.ids(31), type="MonoBehaviour", script=script)))
    plant.removed.append(script)
    plant.expect("SCRIPT_EXISTS", path)
    plant.expect("META_HAS_ASSET", f"{script}.meta")


def empty_script(plant: Plant) -> None:
    path = plant.scene(plant.node(Component(file_id=plant.builder.ids(31), type="MonoBehaviour")))
    plant.expect("SCRIPT_EXISTS", path)


def asset_without_script(plant: Plant) -> None:
    path = plant.fresh_path("Data", ".asset")
    plant.builder.add_scriptable(path, "")
    plant.expect("SCRIPT_EXISTS", path)


def missing_asset(plant: Plant) -> None:
    path = plant.scene(plant.node(plant.component(material=Ref(2100000, plant.builder.fresh_guid(), 2))))
    plant.expect("REFERENCE_RESOLVES", path)


def missing_object_in_asset(plant: Plant) -> None:
    material = plant.fresh_path("Material", ".mat")
    guid = plant.builder.add_material(material)
    path = plant.scene(plant.node(plant.component(material=Ref(2100001, guid, 2))))
    plant.expect("REFERENCE_RESOLVES", path)


def missing_object_in_prefab(plant: Plant) -> None:
    prefab = plant.fresh_path("Prefab", ".prefab")
    guid = plant.builder.add_prefab(Prefab(path=prefab, root=plant.node()))
    path = plant.scene(plant.node(plant.component(prefab=Ref(77, guid, 3))))
    plant.expect("REFERENCE_RESOLVES", path)


def missing_local_object(plant: Plant) -> None:
    path = plant.scene(plant.node(plant.component(target=Ref(4242), targets=[Ref(4242)])))
    plant.expect("LOCAL_REFERENCE_RESOLVES", path)
    plant.expect("LOCAL_REFERENCE_RESOLVES", path)


def lost_component(plant: Plant) -> None:
    lost = Component(file_id=plant.builder.ids(31), type="BoxCollider")
    path = plant.scene(plant.node(lost))
    plant.edit(path, lambda each: None if each.file_id == lost.file_id else each)
    plant.expect("COMPONENT_EXISTS", path)


def empty_component(plant: Plant) -> None:
    node = plant.node()
    path = plant.scene(node)
    entries = [{"component": Ref(node.transform_id)}, {"component": NULL}]
    plant.edit(path, lambda each: _set(each, m_Component=entries) if each.file_id == node.file_id else each)
    plant.expect("COMPONENT_EXISTS", path)


def missing_prefab(plant: Plant) -> None:
    """One finding, whatever the instance overrides or has added."""
    prefab = plant.fresh_path("Prefab", ".prefab")
    root = plant.node()
    plant.builder.add_prefab(Prefab(path=prefab, root=root))
    instance = Instance(
        file_id=plant.builder.ids(31),
        source=prefab,
        overrides=(Override(target=root.file_id, path="m_Name", value="X"),),
        added_objects=((root.file_id, plant.node()),),
    )
    path = plant.scene(instance)
    plant.removed += [prefab, f"{prefab}.meta"]
    plant.expect("REFERENCE_RESOLVES", path)


def stale_override(plant: Plant) -> None:
    prefab = plant.fresh_path("Prefab", ".prefab")
    root = plant.node()
    plant.builder.add_prefab(Prefab(path=prefab, root=root))
    stale = Override(target=root.file_id + 1, path="m_Speed", value="3")
    path = plant.scene(Instance(file_id=plant.builder.ids(31), source=prefab, overrides=(stale,)))
    plant.expect("OVERRIDE_TARGET_EXISTS", path)


def prefab_cycle(plant: Plant) -> None:
    first, second = sorted(plant.fresh_path("Cycle", ".prefab") for _ in range(2))
    for path in (first, second):
        plant.builder.add_prefab(Prefab(path=path, root=plant.node()))
    for path, other in ((first, second), (second, first)):
        root = plant.builder.prefabs.pop(path).root
        instance = {
            "m_Modification": {
                "m_TransformParent": Ref(root.transform_id),
                "m_Modifications": [],
                "m_RemovedComponents": [],
            },
            "m_SourcePrefab": Ref(100100000, plant.builder.guid_of(other), 3),
        }
        made = Document(class_id=1001, file_id=plant.builder.ids(), type_name="PrefabInstance", body=instance)
        plant.builder.add_documents(path, [*plant.builder.documents[path], made])
    plant.expect("PREFAB_ACYCLIC", first)


def parent_cycle(plant: Plant) -> None:
    child = plant.node()
    root = replace(plant.node(), children=(child,))
    path = plant.scene(root)

    def turn(each: Document) -> Document:
        return _set(each, m_Father=Ref(child.transform_id)) if each.file_id == root.transform_id else each

    plant.edit(path, turn)
    plant.expect("PARENTS_ACYCLIC", path)


def plugin_folders(plant: Plant) -> None:
    """No fault: Unity imports such a folder as one plug-in, so its content has no .meta files."""
    for folder in ("A.bundle", "B.framework", "C.androidlib", "D.xcframework"):
        stem, _, extension = folder.partition(".")
        path = plant.fresh_path(stem, f".{extension}")
        plant.builder.files[f"{path}/Contents/Info.plist"] = b"<plist/>\n"
        plant.removed.append(f"{path}/Contents.meta")


def duplicate_guid(plant: Plant) -> None:
    first, second = sorted(plant.fresh_path("Copy", ".txt") for _ in range(2))
    plant.builder.guids[second] = plant.builder.add_file(first, "a")
    plant.builder.add_file(second, "b")
    plant.expect("GUID_UNIQUE", f"{second}.meta")


def placeholder_guid(plant: Plant) -> None:
    path = plant.fresh_path("Made", ".txt")
    plant.builder.guids[path] = PLACEHOLDER
    plant.builder.add_file(path, "a")
    plant.expect("GUID_GENERATED", f"{path}.meta")


def invalid_guid(plant: Plant) -> None:
    path = plant.fresh_path("Bad", ".txt")
    plant.builder.add_file(path, "a")
    plant.builder.files[f"{path}.meta"] = b"fileFormatVersion: 2\nguid: xyz\n"
    plant.expect("GUID_VALID", f"{path}.meta")


def orphaned_meta(plant: Plant) -> None:
    path = plant.fresh_path("Gone", ".txt")
    plant.builder.add_file(path, "a")
    plant.removed.append(path)
    plant.expect("META_HAS_ASSET", f"{path}.meta")


def orphaned_folder_meta(plant: Plant) -> None:
    path = plant.fresh_path("Folder", "")
    plant.builder.files[f"{path}.meta"] = (
        f"fileFormatVersion: 2\nguid: {plant.builder.fresh_guid()}\nfolderAsset: yes\n".encode()
    )
    plant.expect("META_HAS_FOLDER", f"{path}.meta")


def missing_meta(plant: Plant) -> None:
    path = plant.fresh_path("New", ".txt")
    plant.builder.add_file(path, "a")
    plant.removed.append(f"{path}.meta")
    plant.expect("ASSET_HAS_META", path)


def missing_folder_meta(plant: Plant) -> None:
    folder = plant.fresh_path("Folder", "")
    plant.builder.add_file(f"{folder}/a.txt", "a")
    plant.removed.append(f"{folder}.meta")
    plant.expect("FOLDER_HAS_META", folder)


_CONFLICT: Final = b"<<<<<<< HEAD\n  m_Layer: 1\n=======\n  m_Layer: 2\n>>>>>>> other\n"


def conflict_in_scene(plant: Plant) -> None:
    path = plant.scene(plant.node())
    plant.builder.files[path] = plant.builder.files[path].replace(b"  m_Layer: 0\n", _CONFLICT)
    plant.expect("NO_CONFLICT_MARKERS", path)


def conflict_in_script(plant: Plant) -> None:
    path = plant.script()
    plant.builder.files[path] += b"<<<<<<< HEAD\r\n// a\r\n=======\r\n// b\r\n>>>>>>> other\r\n"
    plant.expect("NO_CONFLICT_MARKERS", path)


def conflict_in_meta(plant: Plant) -> None:
    path = plant.fresh_path("Merged", ".txt")
    guid = plant.builder.add_file(path, "a")
    sides = (guid, plant.builder.fresh_guid())
    text = "fileFormatVersion: 2\n<<<<<<< HEAD\nguid: {}\n=======\nguid: {}\n>>>>>>> other\n".format(*sides)
    plant.builder.files[f"{path}.meta"] = text.encode()
    plant.expect("NO_CONFLICT_MARKERS", f"{path}.meta")


def lfs_pointer(plant: Plant) -> None:
    for extension in (".png", ".prefab"):
        path = plant.fresh_path("Pointer", extension)
        guid = plant.builder.add_file(path, LFS)
        plant.scene(plant.node(plant.component(asset=Ref(123, guid, 3))))
        plant.expect("LFS_FETCHED", path)


def oversized_asset(plant: Plant) -> None:
    path = plant.fresh_path("Large", ".png")
    plant.builder.add_texture(path, OVERSIZE)
    plant.expect("ASSET_SIZE", path)


def truncated_scene(plant: Plant) -> None:
    path = plant.scene(plant.node())
    plant.builder.files[path] = plant.builder.files[path][:-9]
    plant.expect("FILE_WELL_FORMED", path)


def scene_without_objects(plant: Plant) -> None:
    path = plant.scene(plant.node())
    plant.builder.files[path] = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
    plant.expect("FILE_WELL_FORMED", path)


def empty_prefab(plant: Plant) -> None:
    path = plant.fresh_path("Empty", ".prefab")
    plant.builder.add_file(path, b"")
    plant.expect("FILE_WELL_FORMED", path)


def malformed_line(plant: Plant) -> None:
    path = plant.scene(plant.node())
    plant.builder.files[path] = plant.builder.files[path].replace(b"  m_Layer: 0\n", b"  m_Layer 0 {\n")
    plant.expect("FILE_WELL_FORMED", path)


def binary_scene(plant: Plant) -> None:
    path = plant.fresh_path("Binary", ".unity")
    plant.builder.add_file(path, b"\x00\x00\x0a\x9c" + plant.builder.rng.randbytes(2000))
    plant.expect("TEXT_SERIALIZED", path)


def duplicate_file_id(plant: Plant) -> None:
    component = Component(file_id=plant.builder.ids(31), type="BoxCollider")
    path = plant.scene(plant.node(component))
    again = next(each for each in plant.builder.documents[path] if each.file_id == component.file_id)
    plant.builder.add_documents(path, [*plant.builder.documents[path], again])
    plant.expect("FILE_IDS_UNIQUE", path)


def file_id_out_of_range(plant: Plant) -> None:
    path = plant.scene(plant.node())
    plant.builder.files[path] += b"--- !u!114 &99999999999999999999\nMonoBehaviour:\n  m_Enabled: 1\n"
    plant.expect("FILE_IDS_IN_RANGE", path)


def missing_build_scene(plant: Plant) -> None:
    plant.builder.build_scenes.append(plant.fresh_path("Gone", ".unity"))
    plant.expect("BUILD_SCENE_EXISTS", "ProjectSettings/EditorBuildSettings.asset")


def other_forms(plant: Plant) -> None:
    """A missing asset in every form of reference that is not a flow mapping, and in importer settings."""
    builder = plant.builder
    paths = {name: plant.fresh_path("Form", name) for name in (".asmdef", ".uxml", ".uss", ".shadergraph", ".asset", ".fbx")}
    gone = [plant.fresh_path("Gone", ".bin") for _ in range(6)]
    add_asmdef(builder, paths[".asmdef"], (gone[0],))
    add_uxml(builder, paths[".uxml"], style=gone[1])
    add_uss(builder, paths[".uss"], gone[2])
    add_shadergraph(builder, paths[".shadergraph"], gone[3])
    add_address_group(builder, paths[".asset"], plant.script(), (gone[4],))
    builder.add_model(paths[".fbx"], gone[5])
    reference = plant.scene(plant.node(plant.component(asset=asset_reference(builder, plant.fresh_path("Gone", ".bin")))))
    for path in (
        *[paths[name] for name in (".asmdef", ".uxml", ".uss", ".shadergraph", ".asset")],
        f"{paths['.fbx']}.meta",
        reference,
    ):
        plant.expect("REFERENCE_RESOLVES", path)


FAULTS: Final[Mapping[str, Callable[[Plant], None]]] = {
    each.__name__: each
    for each in (
        deleted_script, script_with_meta_only, empty_script, asset_without_script, missing_asset,
        missing_object_in_asset, missing_object_in_prefab, missing_local_object, lost_component, empty_component,
        missing_prefab, stale_override, prefab_cycle, parent_cycle, plugin_folders, duplicate_guid,
        placeholder_guid, invalid_guid, orphaned_meta, orphaned_folder_meta, missing_meta, missing_folder_meta,
        conflict_in_scene, conflict_in_script, conflict_in_meta, lfs_pointer, oversized_asset, truncated_scene,
        scene_without_objects, empty_prefab, malformed_line, binary_scene, duplicate_file_id, file_id_out_of_range,
        missing_build_scene, other_forms,
    )
}  # fmt: skip
"""Every fault by name. They do not disturb each other, so any number can be planted in one project."""
