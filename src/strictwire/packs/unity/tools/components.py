"""scene.components.list."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.packs.unity.hierarchy.overlay import read_fields
from strictwire.packs.unity.reading import FileDocuments, Unreadable
from strictwire.packs.unity.scripts.names import Standing
from strictwire.packs.unity.tools.fields import FieldWriter
from strictwire.packs.unity.tools.notes import count, script_notes, some, tree_notes
from strictwire.packs.unity.tools.refusals import unity_error, unreadable
from strictwire.packs.unity.tools.reply import Reply, Request, shorten
from strictwire.packs.unity.tools.rows import Row, instance_id_of, list_rows
from strictwire.packs.unity.tools.scenes import find_rows, load_tree
from strictwire.packs.unity.yaml.document import Document


def list_components(request: Request) -> Reply:
    """scene.components.list."""
    tree = load_tree(request)
    row, others = _find(request, list_rows(tree).rows, tree.path)
    names = request.snapshot.names
    documents = _Documents(request.snapshot.documents, tree.path)
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
                "serializedFields": writer.write(read_fields(placed, documents.read) if placed.component else {}),
            }
        )
    notes = [*tree_notes(tree.findings), *script_notes(unknown), _TYPES_NOTE]
    if others:
        notes.append(f"{count(others, 'more object')} with this path; pass instanceId to choose one.")
    if documents.unread:
        notes.append(f"Only overridden values are known of {some(sorted(documents.unread))}.")
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


class _Documents:
    """Documents of the scene and of the prefabs it is made of, each file opened once."""

    def __init__(self, open_file: Callable[[str], FileDocuments], scene: str) -> None:
        self._open = cache(open_file)
        self._scene = scene
        self.unread: set[str] = set()
        """Prefabs and models whose values are not known."""

    def read(self, path: str, file_id: int) -> Document | None:
        """See hierarchy.overlay.ReadDocument. Raises Refused(UNITY_ERROR): the scene itself cannot be read."""
        try:
            return self._open(path)(file_id)
        except Unreadable as exc:
            if path == self._scene:
                raise unreadable("Scene file", "scenePath", path, exc) from exc
            self.unread.add(path)
            return None


def _lines(components: list[JsonObject]) -> list[str]:
    lines = []
    for component in components:
        lines.append(f"{component['type']} ({component['instanceId']})")
        lines += [f"  {each['name']}: {_text(each['value'])}" for each in component["serializedFields"]]
    return lines


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else render(value).decode()
