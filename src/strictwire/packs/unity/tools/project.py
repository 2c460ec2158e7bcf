"""project.info and project.scenes.list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.reading import Unreadable, damaged, read_yaml
from strictwire.packs.unity.tools.notes import some
from strictwire.packs.unity.tools.pages import cut_page
from strictwire.packs.unity.tools.reply import Reply, Request, shorten
from strictwire.packs.unity.yaml.document import read_documents
from strictwire.packs.unity.yaml.faults import Malformed
from strictwire.packs.unity.yaml.values import Node, Reference, maybe_file_id, maybe_reference

_PIPELINES: Final[Mapping[str, str]] = MappingProxyType(
    {"bf2edee5c58d82540a51f03df9d42094": "URP", "0cf1dab834d4ec34195b920ea7bbf9ec": "HDRP"}
)
"""Script of a pipeline asset to the name of the pipeline."""

_PIPELINE_PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"com.unity.render-pipelines.universal": "URP", "com.unity.render-pipelines.high-definition": "HDRP"}
)

BUILT_IN: Final = "Built-in"
UNKNOWN: Final = "Unknown"


def read_settings(project: Project, name: str) -> dict[str, Node]:
    """The fields of a file of ProjectSettings. Raises Unreadable."""
    raw = read_yaml(project, f"ProjectSettings/{name}.asset")
    try:
        document = next(read_documents(raw), None)
    except Malformed as exc:
        raise damaged(exc) from exc
    return document.fields if document else {}


def info(request: Request) -> Reply:
    """project.info."""
    project = request.snapshot.project
    notes = ["buildTargets is empty: which targets are installed and active is not stored in the project."]
    name, pipeline = project.root.name, UNKNOWN
    try:
        name = str(read_settings(project, "ProjectSettings").get("productName") or name)
    except Unreadable as exc:
        notes.append(f"projectName is the name of the folder: ProjectSettings.asset {exc.reason}.")
    try:
        pipeline = find_pipeline(project)
    except Unreadable as exc:
        notes.append(f"renderPipeline is not known: a settings file {exc.reason}.")
    output = {
        "projectName": name,
        "unityVersion": project.editor_version,
        "renderPipeline": pipeline,
        "buildTargets": [],
        "projectPath": str(project.root),
    }
    text = f"{name}: Unity {project.editor_version}, render pipeline {pipeline}"
    return Reply(output=output, text=text, notes=tuple(notes))


def find_pipeline(project: Project) -> str:
    """The render pipeline in use: that of the current quality level, or else that of the graphics settings.

    Raises Unreadable.
    """
    asset = _quality_pipeline(read_settings(project, "QualitySettings"))
    if asset is None or not asset.file_id:
        asset = maybe_reference(read_settings(project, "GraphicsSettings").get("m_CustomRenderPipeline"))
    if asset is None or not asset.file_id:
        return BUILT_IN
    path = project.path_of(asset.guid)
    if path is not None:
        return _pipeline_of(project, path)
    used = {_PIPELINE_PACKAGES[name] for name in project.packages.known if name in _PIPELINE_PACKAGES}
    return used.pop() if len(used) == 1 else UNKNOWN


def _quality_pipeline(fields: dict[str, Node]) -> Reference | None:
    levels, current = fields.get("m_QualitySettings"), maybe_file_id(str(fields.get("m_CurrentQuality", "")))
    if not isinstance(levels, list) or current is None or not 0 <= current < len(levels):
        return None
    level = levels[current]
    return maybe_reference(level.get("customRenderPipeline")) if isinstance(level, dict) else None


def _pipeline_of(project: Project, path: str) -> str:
    try:
        for document in read_documents(read_yaml(project, path)):
            script = maybe_reference(document.fields.get("m_Script"))
            if script is not None and script.guid in _PIPELINES:
                return _PIPELINES[script.guid]
    except Malformed as exc:
        raise damaged(exc) from exc
    return UNKNOWN


class _BuildEntry(NamedTuple):
    """A scene of the build settings."""

    is_enabled: bool
    number: int
    """Its place in the build; -1 if it is not enabled."""


def list_scenes(request: Request) -> Reply:
    """project.scenes.list, sorted by path."""
    project, arguments = request.snapshot.project, request.arguments
    notes: list[str] = []
    try:
        built, missing = _build_list(project, read_settings(project, "EditorBuildSettings"))
    except Unreadable as exc:
        built, missing = {}, []
        notes.append(f"Build settings are not known: EditorBuildSettings.asset {exc.reason}.")
    if missing:
        notes.append(f"The build settings name scenes that do not exist: {some(missing)}.")
    paths = sorted(path for path, asset in project.assets.items() if asset.type == "Scene" and _fits(path, built, arguments))
    page = cut_page("project.scenes.list", arguments, paths, mark=str, size_of=lambda path: 2 * len(path) + 60)
    scenes = [_show(path, built.get(path, _BuildEntry(False, -1))) for path in page.items]
    lines = [f"{each['path']}" + (f" (build {each['buildIndex']})" if each["enabledInBuild"] else "") for each in scenes]
    text = shorten(lines, "... {} more scenes") or "No scene."
    return Reply(output={"scenes": scenes, **page.members}, text=text, notes=(*notes, *page.notes))


def _build_list(project: Project, fields: dict[str, Node]) -> tuple[dict[str, _BuildEntry], list[str]]:
    """The scenes of the build by path, and those that do not exist. The GUID counts where a path is out of date."""
    built: dict[str, _BuildEntry] = {}
    missing: list[str] = []
    entries, number = fields.get("m_Scenes"), 0
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        named = str(entry.get("path", ""))
        path, is_enabled = project.path_of(str(entry.get("guid", ""))) or named, entry.get("enabled") == "1"
        if path not in project.assets:
            missing.append(named)
        elif path not in built:
            built[path] = _BuildEntry(is_enabled, number if is_enabled else -1)
        number += is_enabled
    return built, missing


def _fits(path: str, built: dict[str, _BuildEntry], arguments: JsonObject) -> bool:
    wanted = arguments.get("includeInBuild")
    return wanted is None or (path in built) == wanted


def _show(path: str, entry: _BuildEntry) -> JsonObject:
    name = PurePosixPath(path).stem
    return {"path": path, "name": name, "enabledInBuild": entry.is_enabled, "buildIndex": entry.number}
