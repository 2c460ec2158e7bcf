"""scene.components.list."""

from __future__ import annotations

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.hierarchy.overlay import read_fields
from strictwire.packs.unity.hierarchy.tree import PlacedComponent
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.reading import Unreadable, damaged, read_yaml
from strictwire.packs.unity.scripts.names import Standing
from strictwire.packs.unity.tools.fields import FieldWriter
from strictwire.packs.unity.tools.notes import count, script_notes, some, tree_notes
from strictwire.packs.unity.tools.refusals import unity_error, unreadable
from strictwire.packs.unity.tools.reply import Reply, Request, shorten
from strictwire.packs.unity.tools.rows import Row, instance_id_of, list_rows
from strictwire.packs.unity.tools.scenes import find_rows, load_tree
from strictwire.packs.unity.yaml.document import Document, read_document
from strictwire.packs.unity.yaml.faults import Malformed
from strictwire.packs.unity.yaml.index import Header, index_documents


class Documents:
    """Reads single documents of a project, each file once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[str, tuple[bytes, dict[int, Header]]] = {}

    def read(self, path: str, file_id: int) -> Document | None:
        """A document; None if the file has no such id. Raises Unreadable."""
        if path not in self._files:
            raw = read_yaml(self._project, path)
            self._files[path] = raw, {each.file_id: each for each in reversed(index_documents(raw))}
        raw, headers = self._files[path]
        header = headers.get(file_id)
        try:
            return read_document(raw, header) if header else None
        except Malformed as exc:
            raise damaged(exc) from exc


def list_components(request: Request) -> Reply:
    """scene.components.list."""
    tree = load_tree(request)
    row, others = _find(request, list_rows(tree), tree.path)
    documents, names = Documents(request.snapshot.project), request.snapshot.names
    writer = FieldWriter(request.snapshot.project.path_of)
    shown, unknown = [], 0
    for placed in row.node.components:
        name = names.name_of(placed.component)
        unknown += name.standing is Standing.UNKNOWN
        missing = placed.component is None or name.standing is Standing.MISSING
        shown.append(
            {
                "type": name.name,
                "instanceId": 0 if missing else instance_id_of(placed.outer_id),
                "serializedFields": writer.write(_fields(placed, documents, tree.path)),
            }
        )
    notes = [*tree_notes(tree.findings), *script_notes(unknown), _TYPES_NOTE]
    if others:
        notes.append(f"{count(others, 'more object')} with this path; pass instanceId to choose one.")
    if writer.cuts:
        notes.append(f"Long values are cut in {some(sorted(writer.cuts))}.")
    return Reply(
        output={"gameObjectPath": row.path, "components": shown},
        text=shorten(_lines(shown), "... {} more fields"),
        notes=tuple(notes),
        is_final=not tree.findings.is_late,
    )


_TYPES_NOTE = "Field types are inferred from the stored values; a field that equals a newly added default may be absent."


def _find(request: Request, rows: list[Row], scene: str) -> tuple[Row, int]:
    """The object that is asked for, and how many others have the same path."""
    path, wanted = request.arguments["gameObjectPath"], request.arguments.get("instanceId")
    found = [rows[place] for place in find_rows(rows, path, scene)]
    if wanted is None:
        return found[0], len(found) - 1
    for row in found:
        if row.instance_id == wanted:
            return row, 0
    reason = f"GameObject '{path}' with this instanceId does not exist in '{scene}'"
    raise unity_error("GameObject not found", reason, scenePath=scene, gameObjectPath=path)


def _fields(placed: PlacedComponent, documents: Documents, scene: str) -> JsonObject:
    if placed.component is None:
        return {}
    try:
        return read_fields(placed, documents.read)
    except Unreadable as exc:
        raise unreadable("Scene file", "scenePath", scene, exc) from exc


def _lines(components: list[JsonObject]) -> list[str]:
    lines = []
    for component in components:
        lines.append(f"{component['type']} ({component['instanceId']})")
        lines += [f"  {each['name']}: {each['value']}" for each in component["serializedFields"]]
    return lines
