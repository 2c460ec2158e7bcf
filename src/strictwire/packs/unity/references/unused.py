"""Assets that nothing leads to: not the scenes of the build, nor anything that code can load by name.

What only code refers to (`AssetDatabase.LoadAssetAtPath`, `Shader.Find`) cannot be seen, so the result is a list to review,
not one to delete.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from strictwire.packs.unity.project.kinds import Form, extension_of, is_inside_plugin
from strictwire.packs.unity.project.project import META, Asset, Project
from strictwire.packs.unity.references.graph import Graph
from strictwire.packs.unity.references.scan import BUILD_SETTINGS

_LOADED_BY_NAME: Final = frozenset(
    {"Resources", "StreamingAssets", "Editor", "Editor Default Resources", "Gizmos", "Plugins", "AddressableAssetsData"}
)
"""Folders whose content the engine, the editor or Addressables load without a reference."""

_CODE: Final = frozenset(
    {
        ".cs", ".dll", ".asmdef", ".asmref", ".rsp", ".so", ".a", ".aar", ".jar", ".bundle", ".java", ".kt", ".m", ".mm",
        ".h", ".c", ".cc", ".cpp", ".swift", ".xib", ".jslib", ".jspre", ".dylib", ".winmd", ".def", ".bc",
    }
)  # fmt: skip
"""Scripts, assemblies and the plug-ins that Unity builds or links."""

_KEPT_NAMES: Final = frozenset({"link.xml"})
"""Files that the build reads by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """The result."""

    assets: tuple[Asset, ...]
    """By path."""
    notes: tuple[str, ...]


def find_unused(graph: Graph) -> Unused:
    """Assets below `Assets/` that nothing leads to."""
    project = graph.project
    scenes = _build_scenes(graph)
    notes = [] if scenes else ["The build settings list no scene, so every scene counts as used."]
    roots = {path for path in project.assets if _is_root(project, path)} | (scenes or _all_scenes(project))
    used = _reach(graph, roots)
    hidden = [path for path, found in graph.scans.items() if found.scan.form is Form.LFS_POINTER]
    if hidden or graph.unread:
        notes.append(
            f"{len(hidden) + len(graph.unread)} files could not be read; what only they refer to is listed as unused."
        )
    if graph.is_partial:
        notes.append(f"Only {len(graph.scans)} of {graph.total} files were read.")
    found = [asset for path, asset in project.assets.items() if path not in used and path.startswith("Assets/")]
    return Unused(assets=tuple(found), notes=tuple(notes))


def _is_root(project: Project, path: str) -> bool:
    """Whether an asset is used without anything referring to it."""
    record = project.metas.get(path + META)
    return (
        not path.startswith("Assets/")
        or extension_of(path) in _CODE
        or is_inside_plugin(path)
        or path.rpartition("/")[2] in _KEPT_NAMES
        or not _LOADED_BY_NAME.isdisjoint(path.split("/")[:-1])
        or (record is not None and record.meta.has_bundle)
    )


def _build_scenes(graph: Graph) -> set[str]:
    scanned = graph.scans.get(BUILD_SETTINGS)
    if scanned is None:
        return set()
    named = {graph.project.by_guid.get(guid, "") for guid in scanned.scan.assets} | set(scanned.scan.paths)
    return {path for path in named if path in graph.project.assets}


def _all_scenes(project: Project) -> set[str]:
    return {path for path in project.assets if path.endswith(".unity")}


def _reach(graph: Graph, roots: Iterable[str]) -> set[str]:
    """Everything that the roots lead to. A reference to a folder, as Addressables have them, leads to all it contains."""
    reached: set[str] = set()
    waiting = list(roots)
    in_order = list(graph.project.assets)
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        for target in graph.used_by(path):
            if target not in graph.project.folders:
                waiting.append(target)
            elif target not in reached:
                reached.add(target)
                waiting.extend(_inside(in_order, target))
    return reached


def _inside(in_order: list[str], folder: str) -> list[str]:
    """The assets of a folder, which stand next to each other in a sorted list."""
    return in_order[bisect_left(in_order, f"{folder}/") : bisect_left(in_order, f"{folder}0")]  # `0` follows `/`
