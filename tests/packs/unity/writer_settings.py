"""ProjectSettings and Packages of a generated project."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.packs.unity.writer_yaml import NULL, Document, Value, render_block, render_file

UNITY_VERSION: Final = "2022.3.10f1"

_CLASS_NAMES: Final = {"ProjectSettings": "PlayerSettings"}
"""Class of a settings file where it is not named like the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package of the manifest. `where` is `absent`, `cache`, `embedded` or `builtin`."""

    name: str
    version: str = "1.0.0"
    where: str = "absent"
    scripts: tuple[str, ...] = ()
    """Paths inside the package. Their GUIDs are those of `Packages/<name>/<path>`, on disk or not."""


def settings_files(name: str, build_scenes: Iterable[tuple[str, str]]) -> dict[str, bytes]:
    """The settings that readers of a project look at. Scenes are pairs of path and GUID."""
    version = f"m_EditorVersion: {UNITY_VERSION}\nm_EditorVersionWithRevision: {UNITY_VERSION} (ff3792e53c62)\n"
    scenes: list[Value] = [{"enabled": 1, "path": path, "guid": guid} for path, guid in build_scenes]
    tables: dict[str, tuple[int, Mapping[str, Value]]] = {
        "ProjectSettings": (129, {"m_ObjectHideFlags": 0, "companyName": "DefaultCompany", "productName": name}),
        "EditorBuildSettings": (1045, {"m_ObjectHideFlags": 0, "m_Scenes": scenes, "m_configObjects": {}}),
        "GraphicsSettings": (30, {"m_ObjectHideFlags": 0, "m_CustomRenderPipeline": NULL}),
        "QualitySettings": (47, {"m_ObjectHideFlags": 0, "m_CurrentQuality": 0, "m_QualitySettings": []}),
        "EditorSettings": (159, {"m_ObjectHideFlags": 0, "m_SerializationMode": 2}),
        "TagManager": (78, {"serializedVersion": 2, "tags": ["Enemy"], "layers": ["Default", "", "", "", "", "UI"]}),
    }
    made = {f"ProjectSettings/{file}.asset": _settings(file, *table) for file, table in tables.items()}
    return {"ProjectSettings/ProjectVersion.txt": version.encode(), **made}


def _settings(file: str, class_id: int, body: Mapping[str, Value]) -> bytes:
    name = _CLASS_NAMES.get(file, file)
    return render_file([Document(class_id=class_id, file_id=1, type_name=name, body=body)])


def package_files(packages: Iterable[Package], guid_of: Callable[[str], str]) -> dict[str, bytes]:
    """manifest.json, packages-lock.json and the packages that are on disk."""
    packages = tuple(packages)
    wanted = {each.name: each.version for each in packages if each.where != "embedded"}
    made = {
        "Packages/manifest.json": json_text({"dependencies": wanted}),
        "Packages/packages-lock.json": json_text({"dependencies": {each.name: _lock_entry(each) for each in packages}}),
    }
    for package in packages:
        made |= _contents(package, guid_of)
    return made


def _lock_entry(package: Package) -> dict[str, object]:
    sources = {"absent": "registry", "cache": "registry", "embedded": "embedded", "builtin": "builtin"}
    version = f"file:{package.name}" if package.where == "embedded" else package.version
    return {"version": version, "depth": 0, "source": sources[package.where], "dependencies": {}}


def _contents(package: Package, guid_of: Callable[[str], str]) -> dict[str, bytes]:
    homes = {"embedded": f"Packages/{package.name}", "cache": f"Library/PackageCache/{package.name}@{package.version}"}
    home = homes.get(package.where)
    if home is None:
        return {}
    described = json_text({"name": package.name, "version": package.version})
    made: dict[str, bytes] = {}
    for path, content in {"package.json": described, **dict.fromkeys(package.scripts, b"public class X {}\n")}.items():
        made[f"{home}/{path}"] = content
        guid = guid_of(f"Packages/{package.name}/{path}")
        made[f"{home}/{path}.meta"] = render_block({"fileFormatVersion": 2, "guid": guid}).encode()
    return made


def json_text(value: object) -> bytes:
    """JSON as Unity writes it in package files."""
    return (json.dumps(value, indent=2) + "\n").encode()
