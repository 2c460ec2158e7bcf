"""scene.hierarchy.dump and scene.objects.find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.hierarchy.expand import Limits
from strictwire.packs.unity.hierarchy.tree import Tree
from strictwire.packs.unity.reading import Unreadable
from strictwire.packs.unity.scripts.names import Standing, TypeNames
from strictwire.packs.unity.tools.notes import DERIVED_IDS, TOO_DEEP, count, script_notes, tree_notes
from strictwire.packs.unity.tools.pages import cut_page
from strictwire.packs.unity.tools.refusals import read_path, unity_error, unreadable
from strictwire.packs.unity.tools.reply import Reply, Request, shorten
from strictwire.packs.unity.tools.rows import MAX_DEPTH, Row, Rows, list_rows, nest, subtree, without_inactive
from strictwire.packs.unity.tools.wildcard import matches

_SCENES: Final = (".unity", ".prefab")

_ROW_BYTES: Final = 90
"""Bytes of an object in JSON besides its texts."""


def load_tree(request: Request) -> Tree:
    """The tree of the argument `scenePath`. Raises Refused(UNITY_ERROR): there is no such scene, or it cannot be read."""
    path = read_path("Scene", "scenePath", request.arguments["scenePath"])
    if not path.endswith(_SCENES):
        raise unity_error("Not a scene", f"'{path}' is not a scene; expected a .unity or .prefab file", scenePath=path)
    try:
        return request.snapshot.tree(path, Limits(is_late=request.guard.is_late))
    except Unreadable as exc:
        raise unreadable("Scene file", "scenePath", path, exc) from exc


def dump(request: Request) -> Reply:
    """scene.hierarchy.dump."""
    arguments, tree = request.arguments, load_tree(request)
    types = _Types(request.snapshot.names)
    found = list_rows(tree)
    rows = list(_narrow(found.rows, arguments, tree.path))
    deepest = (rows[0].depth if rows else 0) + arguments.get("depth", MAX_DEPTH)
    wanted = [row for row in rows if row.depth <= deepest]
    page = cut_page("scene.hierarchy.dump", arguments, wanted, mark=_mark, size_of=partial(_size, types))
    show = partial(_show, types, keeps_ids=arguments.get("includeFileIds", False))
    output = {"scenePath": tree.path, "rootObjects": nest(page.items, show), **page.members}
    notes = [*_notes(tree, found, types, page.items, arguments), *page.notes]
    if len(wanted) < len(rows):
        left = count(len(rows) - len(wanted), "object")
        notes.append(f"{left} below the depth limit left out; pass rootPath to read further.")
    lines = [_outline(row, types, wanted[0].depth) for row in page.items]
    text = shorten(lines, "... {} more objects; page with pageSize and cursor, or pass rootPath")
    return Reply(output=output, text=text, notes=tuple(notes), is_final=not tree.findings.is_late)


def find(request: Request) -> Reply:
    """scene.objects.find. Filters must all match; results are sorted by path."""
    arguments, tree = request.arguments, load_tree(request)
    types = _Types(request.snapshot.names)
    filters = [make(arguments[name]) for name, make in _FILTERS.items() if name in arguments]
    found = list_rows(tree)
    fitting = [row for row in found.rows if all(fits(row, types) for fits in filters)]
    fitting.sort(key=lambda row: row.path)
    page = cut_page("scene.objects.find", arguments, fitting, mark=_mark, size_of=partial(_size, types))
    show = partial(_show, types, keeps_ids=arguments.get("includeFileIds", False))
    matched = [{**show(row), "tag": row.node.tag, "layer": row.node.layer} for row in page.items]
    lines = [f"{row.path} [{', '.join(types.of(row))}]" for row in page.items]
    return Reply(
        output={"matches": matched, **page.members},
        text=shorten(lines, "... {} more objects; page with pageSize and cursor") or "No object matches.",
        notes=(*_notes(tree, found, types, page.items, arguments), *page.notes),
        is_final=not tree.findings.is_late,
    )


class _Types:
    """Type names of the components of rows, each worked out once."""

    def __init__(self, names: TypeNames) -> None:
        self._names = names
        self._known: dict[int, list[str]] = {}
        self.unknown = 0
        """Scripts whose class is not known, among the rows that were asked for."""

    def of(self, row: Row) -> list[str]:
        """The names in the order of the inspector."""
        known = self._known.get(row.instance_id)
        if known is None:
            found = [self._names.name_of(each.component) for each in row.node.components]
            self.unknown += sum(1 for each in found if each.standing is Standing.UNKNOWN)
            known = self._known[row.instance_id] = [each.name for each in found]
        return known


Fits = Callable[[Row, _Types], bool]

_FILTERS: Final[dict[str, Callable[..., Fits]]] = {
    "namePattern": lambda pattern: lambda row, _types: matches(pattern, row.node.name),
    "componentType": lambda name: lambda row, types: name.rpartition(".")[2] in types.of(row),
    "tag": lambda tag: lambda row, _types: row.node.tag == tag,
    "layer": lambda layer: lambda row, _types: row.node.layer == layer,
}
"""Argument to the test it asks for."""


def find_rows(rows: Sequence[Row], path: str, scene: str) -> list[int]:
    """Places of the objects with a path. Raises Refused(UNITY_ERROR): there is none."""
    found = [place for place, row in enumerate(rows) if row.path == path]
    if not found:
        reason = f"GameObject '{path}' does not exist in '{scene}'"
        raise unity_error("GameObject not found", reason, scenePath=scene, gameObjectPath=path)
    return found


def _narrow(rows: list[Row], arguments: JsonObject, scene: str) -> Iterator[Row]:
    if "rootPath" in arguments:
        rows = [each for start in find_rows(rows, arguments["rootPath"], scene) for each in subtree(rows, start)]
    return without_inactive(rows) if arguments.get("includeInactive") is False else iter(rows)


def _show(types: _Types, row: Row, *, keeps_ids: bool) -> JsonObject:
    shown: JsonObject = {"name": row.node.name, "path": row.path, "instanceId": row.instance_id}
    if keeps_ids:
        shown["fileId"] = str(row.node.file_id)
    return {**shown, "components": types.of(row)}


def _mark(row: Row) -> str:
    return f"{row.path}\n{row.node.file_id}"


def _size(types: _Types, row: Row) -> int:
    return _ROW_BYTES + len(row.path) + len(row.node.name) + sum(len(each) + 3 for each in types.of(row))


def _outline(row: Row, types: _Types, top: int) -> str:
    state = "" if row.node.active else " (inactive)"
    return f"{'  ' * (row.depth - top)}{row.node.name}{state} [{', '.join(types.of(row))}]"


def _notes(tree: Tree, found: Rows, types: _Types, rows: Sequence[Row], arguments: JsonObject) -> Iterator[str]:
    yield from tree_notes(tree.findings)
    if found.is_cut:
        yield TOO_DEEP
    yield from script_notes(types.unknown)
    if not arguments.get("includeFileIds") and any(row.instance_id != row.node.file_id for row in rows):
        yield DERIVED_IDS
