"""Generates whole Unity projects with known content, from a seed. Start here: `ProjectBuilder`.

The builder keeps the models of everything it writes (`scenes`, `prefabs`, `guids`, `documents`), so that a test compares
what a reader finds with what was written. `writer_faults` plants faults, `writer_random` makes content, `writer_sizes` makes
the large projects of the benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from random import Random
from typing import Final

from tests.packs.unity.writer_model import Ids, Placed, Prefab, Scene, expand, expand_scene
from tests.packs.unity.writer_scene import prefab_documents, scene_documents
from tests.packs.unity.writer_settings import Package, package_files, settings_files
from tests.packs.unity.writer_yaml import NULL, Document, Ref, Value, iter_refs, render_block, render_file, vector

BUILTIN: Final = ("0000000000000000e000000000000000", "0000000000000000f000000000000000")
PNG: Final = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000") + b"\x1f\x15\xc4\x89"
FBX: Final = b"Kaydara FBX Binary  \x00\x1a\x00\xe8\x1c\x00\x00"
NATIVE: Final = 11400000
"""File id of the main object of a ScriptableObject."""

_IMPORTERS: Final[Mapping[str, str]] = {
    ".cs": "MonoImporter",
    ".dll": "PluginImporter",
    ".png": "TextureImporter",
    ".fbx": "ModelImporter",
    ".prefab": "PrefabImporter",
    ".mat": "NativeFormatImporter",
    ".asset": "NativeFormatImporter",
    ".mixer": "NativeFormatImporter",
    ".asmdef": "AssemblyDefinitionImporter",
    ".shadergraph": "ScriptedImporter",
    ".uxml": "ScriptedImporter",
    ".uss": "ScriptedImporter",
}


@dataclass(slots=True)
class ProjectBuilder:
    """One project in memory; `save` writes it."""

    seed: int = 0
    name: str = "Generated"
    files: dict[str, bytes] = field(default_factory=dict)
    guids: dict[str, str] = field(default_factory=dict)
    """GUID of every asset and folder, by path."""
    documents: dict[str, list[Document]] = field(default_factory=dict)
    """Documents of every YAML asset, by path."""
    prefabs: dict[str, Prefab] = field(default_factory=dict)
    scenes: dict[str, Scene] = field(default_factory=dict)
    build_scenes: list[str] = field(default_factory=list)
    packages: list[Package] = field(default_factory=list)
    rng: Random = field(init=False)
    ids: Ids = field(init=False)

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.ids = Ids(self.rng)

    def fresh_guid(self) -> str:
        """A GUID that no asset has."""
        return f"{self.rng.getrandbits(128):032x}"

    def guid_of(self, path: str) -> str:
        """GUID of an asset, made when it is first asked for."""
        if path not in self.guids:
            self.guids[path] = self.fresh_guid()
        return self.guids[path]

    def add_file(self, path: str, content: bytes | str, importer: Mapping[str, Value] | None = None) -> str:
        """An asset with its .meta; its GUID."""
        self.files[path] = content.encode() if isinstance(content, str) else content
        self.files[f"{path}.meta"] = self.meta_of(path, importer)
        return self.guid_of(path)

    def meta_of(self, path: str, importer: Mapping[str, Value] | None = None) -> bytes:
        """The .meta of a file; `importer` adds fields."""
        kind = _IMPORTERS.get(PurePosixPath(path).suffix, "DefaultImporter")
        settings = {
            "externalObjects": {},
            **(importer or {}),
            "userData": "",
            "assetBundleName": "",
            "assetBundleVariant": "",
        }
        return render_block({"fileFormatVersion": 2, "guid": self.guid_of(path), kind: settings}).encode()

    def add_documents(self, path: str, documents: Iterable[Document]) -> str:
        """A YAML asset; its GUID. ProjectSettings have no .meta."""
        self.documents[path] = list(documents)
        content = render_file(self.documents[path])
        if path.startswith("ProjectSettings/"):
            self.files[path] = content
            return ""
        return self.add_file(path, content)

    def add_script(self, path: str, namespace: str = "Game") -> str:
        """A C# script whose class is named after the file."""
        stem = PurePosixPath(path).stem
        text = (
            f"using UnityEngine;\n\nnamespace {namespace}\n{{\n    public class {stem} : MonoBehaviour\n    {{\n    }}\n}}\n"
        )
        return self.add_file(path, text)

    def add_texture(self, path: str, size: int = 200) -> str:
        """A binary image of about this many bytes."""
        return self.add_file(path, PNG + self.rng.randbytes(max(0, size - len(PNG))))

    def add_model(self, path: str, material: str = "") -> str:
        """A binary model; its .meta may remap a material."""
        entry = {"first": {"type": "UnityEngine:Material", "assembly": "UnityEngine.CoreModule", "name": "Default"}}
        remap = [{**entry, "second": Ref(2100000, self.guid_of(material), 2)}] if material else []
        return self.add_file(path, FBX + self.rng.randbytes(64), {"externalObjects": remap} if remap else None)

    def add_material(self, path: str, texture: str = "") -> str:
        """A .mat with its main texture."""
        main = Ref(2800000, self.guid_of(texture), 3) if texture else NULL
        slot = {"m_Texture": main, "m_Scale": vector(x=1, y=1), "m_Offset": vector(x=0, y=0)}
        body: dict[str, Value] = {
            "serializedVersion": 8,
            "m_ObjectHideFlags": 0,
            "m_Name": PurePosixPath(path).stem,
            "m_Shader": Ref(46, BUILTIN[1], 0),
            "m_SavedProperties": {
                "serializedVersion": 3,
                "m_TexEnvs": [{"_MainTex": slot}],
                "m_Floats": [{"_Glossiness": 0.5}],
            },
        }
        return self.add_documents(path, [Document(class_id=21, file_id=2100000, type_name="Material", body=body)])

    def add_scriptable(self, path: str, script: str, fields: Mapping[str, Value] | None = None) -> str:
        """A ScriptableObject; an empty `script` makes a missing one."""
        body: dict[str, Value] = {
            "m_ObjectHideFlags": 0,
            "m_GameObject": NULL,
            "m_Enabled": 1,
            "m_EditorHideFlags": 0,
            "m_Script": Ref(11500000, self.guid_of(script), 3) if script else NULL,
            "m_Name": PurePosixPath(path).stem,
            "m_EditorClassIdentifier": "",
            **(fields or {}),
        }
        return self.add_documents(path, [Document(class_id=114, file_id=NATIVE, type_name="MonoBehaviour", body=body)])

    def add_prefab(self, prefab: Prefab) -> str:
        """A prefab; those it contains are added before."""
        self.prefabs[prefab.path] = prefab
        return self.add_documents(prefab.path, prefab_documents(prefab, self.prefabs, self.guid_of))

    def add_scene(self, scene: Scene, *, in_build: bool = True) -> str:
        """A scene."""
        self.scenes[scene.path] = scene
        if in_build:
            self.build_scenes.append(scene.path)
        return self.add_documents(scene.path, scene_documents(scene, self.prefabs, self.guid_of))

    def tree_of(self, path: str) -> tuple[Placed, ...]:
        """The expanded hierarchy of a scene or prefab that was added."""
        if path in self.scenes:
            return expand_scene(self.scenes[path], self.prefabs)
        return (expand(self.prefabs[path].root, self.prefabs),)

    def references(self) -> dict[str, set[str]]:
        """GUIDs that each YAML asset refers to, built-in ones left out."""
        return {
            path: {ref.guid for each in documents for ref in iter_refs(each.body) if ref.guid and ref.guid not in BUILTIN}
            for path, documents in self.documents.items()
        }

    def finish(self) -> dict[str, bytes]:
        """All files: project settings, packages and .meta files of folders are added to what is there."""
        scenes = [(path, self.guid_of(path)) for path in self.build_scenes]
        made = {**settings_files(self.name, scenes), **package_files(self.packages, self.guid_of), **self.files}
        folders = {str(parent) for path in made for parent in PurePosixPath(path).parents}
        for folder in sorted(folders):
            if _has_meta(folder):
                made.setdefault(f"{folder}.meta", _folder_meta(self.guid_of(folder)))
        return made

    def save(self, root: Path) -> Path:
        """Write the project; the root again."""
        return save_files(root, self.finish())


def _folder_meta(guid: str) -> bytes:
    importer: dict[str, Value] = {"externalObjects": {}, "userData": ""}
    return render_block({"fileFormatVersion": 2, "guid": guid, "folderAsset": "yes", "DefaultImporter": importer}).encode()


_DEPTHS: Final = {"Assets": 2, "Packages": 3}
"""Parts of the first paths that have a .meta, by top folder."""


def _has_meta(folder: str) -> bool:
    parts = PurePosixPath(folder).parts
    is_ignored = any(part.startswith(".") or part.endswith("~") for part in parts)
    return bool(parts) and not is_ignored and len(parts) >= _DEPTHS.get(parts[0], 99)


def save_files(root: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return root
