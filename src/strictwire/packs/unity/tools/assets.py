"""asset.info."""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Refused
from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.project.kinds import Form, type_of
from strictwire.packs.unity.project.meta import MAX_META, is_builtin_guid
from strictwire.packs.unity.project.project import META, Project
from strictwire.packs.unity.reading import Unreadable, read_asset
from strictwire.packs.unity.references.scan import scan_file
from strictwire.packs.unity.tools.fields import FieldWriter
from strictwire.packs.unity.tools.notes import count, some
from strictwire.packs.unity.tools.refusals import read_path, unreadable
from strictwire.packs.unity.tools.reply import Reply, Request
from strictwire.packs.unity.yaml.document import read_mapping
from strictwire.packs.unity.yaml.faults import Malformed
from strictwire.packs.unity.yaml.fields import FieldReader
from strictwire.packs.unity.yaml.index import index_documents

FOLDER: Final = "Folder"
_META_FIELDS: Final = frozenset({"fileFormatVersion", "guid", "timeCreated", "licenseType", "folderAsset"})
"""Members of a .meta file beside the importer."""


def find_asset(request: Request) -> str:
    """The path of the argument `assetPath`. Raises Refused(UNITY_ERROR): there is no such asset."""
    path = read_path("Asset", "assetPath", request.arguments["assetPath"]).removesuffix("/")
    project = request.snapshot.project
    if path not in project.assets and path not in project.foreign and path not in project.folders:
        raise unreadable("Asset file", "assetPath", path, Unreadable(Obstacle.ABSENT, "does not exist"))
    return path


def info(request: Request) -> Reply:
    """asset.info."""
    project, path = request.snapshot.project, find_asset(request)
    asset = project.assets.get(path) or project.foreign.get(path)
    notes: list[str] = []
    writer = FieldWriter(project.path_of)
    settings = _import_settings(project, path, writer, notes)
    dependencies = _dependencies(project, path, notes) if request.arguments.get("includeDependencies") and asset else []
    if writer.cuts:
        notes.append(f"Long import settings are cut in {some(sorted(writer.cuts))}.")
    output = {
        "path": path,
        "guid": project.guid_of(path) or "",
        "type": _type_of(project, path) if asset else FOLDER,
        "sizeBytes": asset.size if asset else 0,
        "dependencies": dependencies,
        "importSettings": settings,
    }
    if not output["guid"]:
        notes.append("The asset has no .meta file with a valid GUID; the Editor would create one.")
    text = f"{path}: {output['type']}, {output['sizeBytes']} bytes, guid {output['guid'] or 'none'}"
    return Reply(output=output, text="\n".join([text, *dependencies]), notes=tuple(notes))


def _import_settings(project: Project, path: str, writer: FieldWriter, notes: list[str]) -> JsonObject:
    """The importer and its settings, as the .meta file has them."""
    try:
        fields = read_mapping(project.read(path + META, limit=MAX_META))
    except (Refused, Malformed):
        if path + META in project.metas:
            notes.append("The .meta file cannot be read, so importSettings is empty.")
        return {}
    for name, value in fields.items():
        if name not in _META_FIELDS and isinstance(value, dict):
            settings: JsonValue = {each["name"]: each["value"] for each in writer.write(value)}
            return {"importer": name, "settings": settings}
    return {}


def _type_of(project: Project, path: str) -> str:
    """The type by extension; for `.asset` files the class of the first document says more."""
    if not path.endswith(".asset"):
        return type_of(path)
    try:
        form, raw = read_asset(project, path)
        headers = index_documents(raw) if form is Form.YAML else ()
        name = FieldReader(raw).type_name(headers[0]) if headers else "MonoBehaviour"
    except (Unreadable, Malformed):
        return type_of(path)
    return type_of(path) if name == "MonoBehaviour" else name


def _dependencies(project: Project, path: str, notes: list[str]) -> list[str]:
    """What an asset refers to directly. References that no file on disk answers are counted in a note."""
    found: set[str] = set()
    unknown: set[str] = set()
    for each in (path, path + META):
        try:
            form, raw = read_asset(project, each)
        except Unreadable as exc:
            if each == path:
                notes.append(f"Dependencies are not known: the file {exc.reason}.")
            continue
        if each == path and form in (Form.BINARY, Form.LFS_POINTER):
            notes.append("Dependencies stored inside the file are not known: it is not text.")
        scan = scan_file(each, raw)
        for guid in scan.guids():
            target = project.path_of(guid)
            (found if target else unknown).add(target or guid)
        found.update(named for named in scan.paths if named in project.assets)
    absent = [guid for guid in unknown if not is_builtin_guid(guid)]
    if absent:
        notes.append(f"{count(len(absent), 'reference')} to assets that are not on disk, such as those of packages.")
    return sorted(found - {path})
