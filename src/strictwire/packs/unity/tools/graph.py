"""asset.dependencies.graph: what an asset uses and what uses it, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.project.kinds import Form, type_of
from strictwire.packs.unity.references.graph import Graph
from strictwire.packs.unity.tools.assets import find_asset
from strictwire.packs.unity.tools.notes import some, stopped
from strictwire.packs.unity.tools.pages import cut_page
from strictwire.packs.unity.tools.reply import Reply, Request, shorten

DEPTH: Final = 2
"""Steps if the caller names none."""

_BOTH: Final = ("dependencies", "dependents")


class _Reached(NamedTuple):
    """An asset and how many steps away it is."""

    direction: str
    depth: int
    path: str


def graph(request: Request) -> Reply:
    """asset.dependencies.graph, sorted by depth and path."""
    arguments, path = request.arguments, find_asset(request)
    project_graph = request.session.index.graph(stop=request.guard.is_nearly_late)
    wanted, depth = arguments.get("direction", "both"), arguments.get("depth", DEPTH)
    steps: dict[str, Callable[[str], Iterable[str]]] = {
        "dependencies": project_graph.used_by,
        "dependents": project_graph.users_of,
    }
    reached = [
        each
        for direction in _BOTH
        if wanted in ("both", direction)
        for each in _walk(path, steps[direction], depth, direction)
    ]
    page = cut_page("asset.dependencies.graph", arguments, reached, mark=str, size_of=lambda each: len(each.path) + 50)
    output: JsonObject = {"assetPath": path}
    for direction in _BOTH:
        output[direction] = [_show(each) for each in page.items if each.direction == direction]
    lines = [f"{each.direction} {each.depth}: {each.path}" for each in page.items]
    return Reply(
        output={**output, **page.members},
        text=shorten(lines, "... {} more assets; page with pageSize and cursor") or "No dependency.",
        notes=(*_notes(project_graph, path, request), *page.notes),
        is_final=not project_graph.is_partial,
    )


def _walk(start: str, step: Callable[[str], Iterable[str]], depth: int, direction: str) -> Iterator[_Reached]:
    """Breadth first, each asset once, at its smallest depth."""
    seen, edge = {start}, [start]
    for number in range(1, depth + 1):
        following = sorted({each for path in edge for each in step(path)} - seen)
        seen.update(following)
        for path in following:
            yield _Reached(direction, number, path)
        edge = following


def _show(each: _Reached) -> JsonObject:
    return {"path": each.path, "type": type_of(each.path), "depth": each.depth}


def _notes(found: Graph, path: str, request: Request) -> Iterator[str]:
    if found.is_partial:
        yield stopped(request.guard.elapsed_ms, len(found.scans) + len(found.unread), found.total)
    if found.unread:
        yield f"References of some files are not known: {some(sorted(found.unread))}."
    scanned = found.scans.get(path)
    if scanned is not None and scanned.scan.form in (Form.BINARY, Form.LFS_POINTER):
        yield "Dependencies stored inside the file are not known: it is not text."
    if found.project.packages.absent:
        yield f"Assets of packages that are not on disk are left out: {some(found.project.packages.absent)}."
