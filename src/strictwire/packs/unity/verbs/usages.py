"""`strictwire unity usages` and `strictwire unity unused`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject, indent, render
from strictwire.check.policy import PolicyRefused
from strictwire.check.render.text import count
from strictwire.fault.escape import for_terminal
from strictwire.packs.unity.project.kinds import ASSET_TYPES
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.references.unused import Unused, find_unused
from strictwire.packs.unity.references.usages import Usage, find_usages
from strictwire.packs.unity.sources import project_sources
from strictwire.packs.unity.verbs.opening import open_asset, open_projects
from strictwire.packs.unity.verbs.outcome import VerbRefused, VerbResult, runs

_GUID: Final = re.compile(r"[0-9a-fA-F]{32}")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagesOptions:
    """Which asset, and how much to show."""

    asset: str
    """A path on disk or in the project, or a GUID."""
    project: Path
    limit: int
    is_json: bool
    index_folder: Path | None = None


@runs
def run_usages(options: UsagesOptions, progress: Progress) -> VerbResult:
    """List where an asset is used."""
    with open_asset(options.asset, project=options.project, folder=options.index_folder) as (opened, named):
        graph = opened.index.graph(progress=progress)
        path = _find_asset(graph.project, named)
        found = find_usages(graph, project_sources(graph.project), path)
        shown = list(islice(found, options.limit))
        more = sum(1 for _ in found)
    if options.is_json:
        value: JsonObject = {"asset": path, "usages": [msgspec.to_builtins(each) for each in shown], "omitted": more}
        return VerbResult(text=indent(render(value)).decode() + "\n")
    return VerbResult(text=_usages_text(path, shown, more))


def _find_asset(project: Project, named: str) -> str:
    """The path of an asset or folder by its path or GUID. Raises VerbRefused."""
    if _GUID.fullmatch(named):
        path = project.path_of(named.lower())
        if path is None:
            raise VerbRefused(f"no asset of {project.root.name} has the GUID {named}")
        return path
    if named in project.assets or named in project.folders or named in project.foreign:
        return named
    raise VerbRefused(f"{named!r} is no asset of {project.root.name}; expected a path such as Assets/Materials/Wall.mat")


def _usages_text(path: str, usages: list[Usage], more: int) -> str:
    lines = []
    for file, found in groupby(usages, key=lambda each: each.path):
        lines.append(for_terminal(file))
        lines += [f"  {_usage_line(each)}" for each in found]
    total = len(usages) + more
    lines += [f"  ... {more} more; raise --limit to see them"] if more else []
    lines.append(f"{for_terminal(path)}: {count(total, 'usage')}")
    return "\n".join(lines) + "\n"


def _usage_line(usage: Usage) -> str:
    where = for_terminal(": ".join(part for part in (usage.object, usage.component) if part))
    name = for_terminal(usage.property)
    shown = f"{where}.{name}" if where and name else where or name
    return f"{usage.line}  {shown}" if usage.line else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedOptions:
    """Where to look, and how much to show."""

    path: Path
    types: tuple[str, ...]
    """Asset types to list; empty for all."""
    limit: int
    is_json: bool
    index_folder: Path | None = None


@runs
def run_unused(options: UnusedOptions, progress: Progress) -> VerbResult:
    """List assets that nothing leads to."""
    unknown = sorted(set(options.types) - set(ASSET_TYPES))
    if unknown:
        raise PolicyRefused(f"there is no asset type {unknown[0]!r}; types: {', '.join(ASSET_TYPES)}")
    texts = []
    values: list[JsonObject] = []
    with open_projects(options.path, folder=options.index_folder) as projects:
        for each in projects:
            found = find_unused(each.index.graph(progress=progress))
            wanted = [
                asset
                for asset in found.assets
                if (not options.types or asset.type in options.types) and _is_inside(asset.path, each.scope)
            ]
            kept = Unused(assets=tuple(wanted), notes=found.notes)
            values.append(_unused_json(each.prefix, kept, options.limit))
            texts.append(_unused_text(each.prefix, kept, options.limit))
    return VerbResult(text=indent(render({"projects": values})).decode() + "\n" if options.is_json else "".join(texts))


def _is_inside(path: str, scope: str) -> bool:
    return not scope or path == scope or path.startswith(f"{scope}/")


def _unused_json(prefix: str, unused: Unused, limit: int) -> JsonObject:
    rows = [{"path": each.path, "type": each.type, "bytes": each.size} for each in unused.assets[:limit]]
    return {
        "project": prefix.rstrip("/") or ".",
        "assets": len(unused.assets),
        "bytes": sum(each.size for each in unused.assets),
        "unused": rows,
        "omitted": max(0, len(unused.assets) - limit),
        "notes": list(unused.notes),
    }


def _unused_text(prefix: str, unused: Unused, limit: int) -> str:
    lines = [f"{each.size:>12,}  {for_terminal(prefix + each.path)}" for each in unused.assets[:limit]]
    left = len(unused.assets) - limit
    lines += [f"... {left} more; raise --limit to see them"] if left > 0 else []
    lines += [f"note: {for_terminal(each)}" for each in unused.notes]
    by_type = Counter(each.type for each in unused.assets)
    types = ", ".join(f"{number} {name}" for name, number in sorted(by_type.items()))
    total = sum(each.size for each in unused.assets)
    where = f" in {for_terminal(prefix.rstrip('/'))}" if prefix else ""
    lines.append(f"{count(len(unused.assets), 'unused asset')}{where}, {total:,} bytes" + (f": {types}" if types else ""))
    return "\n".join(lines) + "\n"
