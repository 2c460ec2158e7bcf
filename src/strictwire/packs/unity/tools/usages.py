"""asset.find_usages: every place that refers to an asset."""

from __future__ import annotations

from itertools import islice

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.references.usages import Usage, find_usages
from strictwire.packs.unity.sources import project_sources
from strictwire.packs.unity.tools.assets import find_asset
from strictwire.packs.unity.tools.notes import some, stopped
from strictwire.packs.unity.tools.pages import MAX_ITEMS, cut_page
from strictwire.packs.unity.tools.reply import Reply, Request, shorten


def usages(request: Request) -> Reply:
    """asset.find_usages, by file and line."""
    arguments, path, guard = request.arguments, find_asset(request), request.guard
    graph = request.session.index.graph(stop=guard.is_nearly_late)
    found: list[Usage] = []
    is_late = False
    for usage in islice(find_usages(graph, project_sources(graph.project), path), MAX_ITEMS):
        found.append(usage)
        if guard.is_late():
            is_late = True
            break
    notes = [stopped(guard.elapsed_ms, len(graph.scans), graph.total)] if is_late or graph.is_partial else []
    notes += [f"References of some files are not known: {some(sorted(graph.unread))}."] if graph.unread else []
    notes += [f"Only the first {MAX_ITEMS} usages are listed."] if len(found) == MAX_ITEMS else []
    page = cut_page("asset.find_usages", arguments, found, mark=str, size_of=lambda each: len(str(each)))
    return Reply(
        output={"assetPath": path, "usages": [_show(each) for each in page.items], **page.members},
        text=shorten([_line(each) for each in page.items], "... {} more; page with pageSize and cursor")
        or "Nothing uses it.",
        notes=(*notes, *page.notes),
        is_final=not is_late and not graph.is_partial,
    )


def _show(usage: Usage) -> JsonObject:
    return {
        "path": usage.path,
        "line": usage.line,
        "gameObjectPath": usage.object,
        "component": usage.component,
        "property": usage.property,
    }


def _line(usage: Usage) -> str:
    where = ".".join(part for part in (usage.component, usage.property) if part)
    return f"{usage.path}:{usage.line}: {usage.object}: {where}" if usage.object else f"{usage.path}:{usage.line}: {where}"
