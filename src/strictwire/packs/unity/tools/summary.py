"""project.assets.summary."""

from __future__ import annotations

from collections import Counter
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.project.project import Asset
from strictwire.packs.unity.references.unused import find_unused
from strictwire.packs.unity.tools.notes import stopped
from strictwire.packs.unity.tools.pages import cut_page
from strictwire.packs.unity.tools.reply import Reply, Request

LARGE: Final = 1024 * 1024
"""Bytes from which on an asset is large, if the caller does not say."""

TYPES: Final = ("Animation", "Audio", "Material", "Prefab", "Scene", "ScriptableObject", "Texture", "Timeline")
"""Types that are always counted, as EditorMCP does; others are there if the project has them."""

_SETTINGS: Final = "ProjectSettings/"
"""Files that the Editor does not count as assets."""


def summarise(request: Request) -> Reply:
    """project.assets.summary."""
    arguments, project = request.arguments, request.snapshot.project
    wanted, least = arguments.get("assetType"), arguments.get("minSizeBytes", LARGE)
    assets = [
        asset for path, asset in project.assets.items() if not path.startswith(_SETTINGS) and wanted in (None, asset.type)
    ]
    large = sorted((each for each in assets if each.size >= least), key=lambda each: (-each.size, each.path))
    page = cut_page("project.assets.summary", arguments, large, mark=_mark, size_of=lambda each: len(each.path) + 60)
    graph = request.session.index.graph(stop=request.guard.is_nearly_late)
    unused = find_unused(graph)
    notes = [*unused.notes] if not graph.is_partial else []
    if graph.is_partial:
        notes.append(stopped(request.guard.elapsed_ms, len(graph.scans) + len(graph.unread), graph.total))
    unreferenced = sum(1 for each in unused.assets if wanted in (None, each.type))
    if unreferenced:
        notes.append("unreferencedCount is an estimate: what only code loads counts as unreferenced.")
    by_type = dict.fromkeys([] if wanted else TYPES, 0) | Counter(each.type for each in assets)
    output: JsonObject = {
        "totalAssets": len(assets),
        "byType": dict(sorted(by_type.items())),
        "largeAssets": [_show(each) for each in page.items],
        "unreferencedCount": unreferenced,
        **page.members,
    }
    counts = ", ".join(f"{name} {count}" for name, count in output["byType"].items() if count)
    text = f"{len(assets)} assets: {counts}; {len(large)} large, {unreferenced} unreferenced"
    return Reply(output=output, text=text, notes=(*notes, *page.notes), is_final=not graph.is_partial)


def _show(asset: Asset) -> JsonObject:
    return {"path": asset.path, "type": asset.type, "sizeBytes": asset.size}


def _mark(asset: Asset) -> str:
    return f"{asset.path}\n{asset.size}"
