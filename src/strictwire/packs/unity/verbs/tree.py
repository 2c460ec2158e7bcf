"""`strictwire unity tree`: the hierarchy of a scene or prefab."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strictwire.canon.json import JsonObject, indent, render
from strictwire.check.render.text import count
from strictwire.fault.escape import for_terminal
from strictwire.packs.unity.binary.documents import maybe_binary_reader
from strictwire.packs.unity.hierarchy.expand import Limits
from strictwire.packs.unity.hierarchy.tree import Tree, TreeNode
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.reading import load_structure
from strictwire.packs.unity.scripts.names import TypeNames
from strictwire.packs.unity.session import Snapshot
from strictwire.packs.unity.tools.notes import tree_notes
from strictwire.packs.unity.verbs.opening import open_asset
from strictwire.packs.unity.verbs.outcome import VerbRefused, VerbResult, runs
from strictwire.packs.unity.yaml.objects import Structure


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions:
    """Which scene, and how much of it."""

    scene: str
    """A path on disk or in the project."""
    project: Path
    depth: int
    """Levels that are shown."""
    limit: int
    """Objects that are shown."""
    shows_components: bool
    is_json: bool


@runs
def run_tree(options: TreeOptions) -> VerbResult:
    """Show the hierarchy of a scene or prefab, prefabs expanded."""
    with open_asset(options.scene, project=options.project, folder=None) as (opened, path):
        if not path.endswith((".unity", ".prefab")):
            raise VerbRefused(f"{path!r} is not a scene; expected a .unity or .prefab file")
        snapshot = _snapshot(opened.index.project())
        if path not in snapshot.project.assets and path not in snapshot.project.foreign:
            raise VerbRefused(f"{path!r} does not exist in {snapshot.project.root.name}")
        tree = snapshot.tree(path, Limits())
        show = _Shown(tree, snapshot.names, options)
        return VerbResult(text=show.as_json() if options.is_json else show.as_text())


def _snapshot(project: Project) -> Snapshot:
    """The project with every prefab read once."""
    known: dict[str, Structure] = {}
    read_binary = maybe_binary_reader()

    def load(_project: Project, path: str) -> Structure:
        if path not in known:
            known[path] = load_structure(project, path, read_binary)
        return known[path]

    return Snapshot(project, load, read_binary=read_binary)


class _Shown:
    """The part of a tree that is shown."""

    def __init__(self, tree: Tree, names: TypeNames, options: TreeOptions) -> None:
        self._tree = tree
        self._names = names
        self._options = options
        self.total = tree.objects
        self._left = options.limit

    def as_text(self) -> str:
        lines = [self._line(node, depth) for depth, node in self._rows()]
        hidden = self.total - len(lines)
        lines += [f"... {count(hidden, 'more object')}; raise --depth or --limit to see them"] if hidden else []
        lines += [f"note: {for_terminal(each)}" for each in tree_notes(self._tree.findings)]
        lines.append(f"{for_terminal(self._tree.path)}: {count(self.total, 'object')}")
        return "\n".join(lines) + "\n"

    def as_json(self) -> str:
        shown = [self._json(node, 1) for node in self._take(self._tree.roots)]
        value: JsonObject = {
            "path": self._tree.path,
            "objects": self.total,
            "shown": self._options.limit - self._left,
            "roots": shown,
            "notes": list(tree_notes(self._tree.findings)),
        }
        return indent(render(value)).decode() + "\n"

    def _rows(self) -> list[tuple[int, TreeNode]]:
        rows = [row for row in self._tree.walk() if row[0] < self._options.depth]
        return rows[: self._options.limit]

    def _take(self, nodes: tuple[TreeNode, ...]) -> list[TreeNode]:
        """As many siblings as there is room for."""
        taken = list(nodes[: self._left])
        self._left -= len(taken)
        return taken

    def _json(self, node: TreeNode, depth: int) -> JsonObject:
        made: dict[str, Any] = {"name": node.name, "active": node.active, "fileId": str(node.file_id)}
        if self._options.shows_components:
            made["components"] = self._types(node)
        children = self._take(node.children) if depth < self._options.depth else []
        if children:
            made["children"] = [self._json(child, depth + 1) for child in children]
        return made

    def _line(self, node: TreeNode, depth: int) -> str:
        state = "" if node.active else " (inactive)"
        kind = " (prefab)" if node.is_instance else ""
        types = f"  [{', '.join(map(for_terminal, self._types(node)))}]" if self._options.shows_components else ""
        return f"{'  ' * depth}{for_terminal(node.name)}{kind}{state}{types}"

    def _types(self, node: TreeNode) -> list[str]:
        return [self._names.name_of(each.component).name for each in node.components]
