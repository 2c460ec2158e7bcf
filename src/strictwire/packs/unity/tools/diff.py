"""scene.diff: what changed in scenes and prefabs between two commits, or a commit and the files on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.unity.diff.git import GitRefused
from strictwire.packs.unity.diff.model import Change, FileDiff
from strictwire.packs.unity.diff.render.lines import group_changes
from strictwire.packs.unity.diff.run import DiffOptions, compare_versions
from strictwire.packs.unity.diff.versions import open_versions
from strictwire.packs.unity.project.find import NotAProject
from strictwire.packs.unity.tools.notes import stopped
from strictwire.packs.unity.tools.pages import MAX_ITEMS, cut_page
from strictwire.packs.unity.tools.refusals import read_path, unity_error
from strictwire.packs.unity.tools.reply import Reply, Request, shorten


class _Row(NamedTuple):
    """One change and the file it is in."""

    file: FileDiff
    change: Change


def diff(request: Request) -> Reply:
    """scene.diff, by file and object. Raises Refused(UNITY_ERROR): no repository, no such commit, no such path."""
    arguments, guard = request.arguments, request.guard
    before, after = arguments["before"], arguments.get("after", ".")
    scene = read_path("Scene", "scenePath", arguments["scenePath"]) if "scenePath" in arguments else ""
    root = request.snapshot.project.root
    try:
        with open_versions(before, after, root / scene) as opened:
            options = DiffOptions(scope=opened.scope, max_changes=MAX_ITEMS)
            found = compare_versions(opened.before, opened.after, names=(before, after), options=options, stop=guard.is_late)
            prefix = root.relative_to(opened.root.resolve()).as_posix().removeprefix(".")
    except (GitRefused, NotAProject) as exc:
        raise _refusal(exc, before, after) from exc
    rows = [_Row(file, change) for file in found.files for change in file.changes]
    page = cut_page("scene.diff", arguments, rows, mark=str, size_of=lambda row: len(str(row.change)) + len(row.file.path))
    output: JsonObject = {
        "files": [_show_file(each, prefix) for each in found.files],
        "changes": [{"path": _inside(row.file.path, prefix), **row.change.as_json()} for row in page.items],
        **page.members,
    }
    total = len(found.files) + found.skipped
    notes = [stopped(guard.elapsed_ms, len(found.files), total)] if found.skipped else []
    notes += [
        f"{_inside(each.path, prefix)} was not fully compared: {each.problem}." for each in found.files if each.problem
    ]
    notes += [
        f"{each.omitted} changes of {_inside(each.path, prefix)} are not listed." for each in found.files if each.omitted
    ]
    text = (
        shorten(_lines(page.items, prefix), "... {} more changes; page with pageSize and cursor")
        or "No scene or prefab changed."
    )
    return Reply(output=output, text=text, notes=(*notes, *page.notes), is_final=False)


def _refusal(exc: Exception, before: str, after: str) -> Refused:
    return unity_error("Versions cannot be compared", f"The versions cannot be compared: {exc}", before=before, after=after)


def _inside(path: str, prefix: str) -> str:
    """A path of the repository as the project names it."""
    return path.removeprefix(f"{prefix}/") if prefix else path


def _show_file(file: FileDiff, prefix: str) -> JsonObject:
    shown: JsonObject = {
        "path": _inside(file.path, prefix),
        "status": file.status.value,
        "changes": len(file.changes) + file.omitted,
    }
    if file.old_path:
        shown["oldPath"] = _inside(file.old_path, prefix)
    if file.problem:
        shown["problem"] = file.problem
    return shown


def _lines(rows: Sequence[_Row], prefix: str) -> list[str]:
    lines: list[str] = []
    last = ""
    for row in rows:
        if row.file.path != last:
            last = row.file.path
            lines.append(_inside(last, prefix))
        for group in group_changes([row.change], str):
            what = [line for line in (group.head, *group.lines) if line is not None]
            lines += [f"  {group.title or '(settings)'}: {line.text}" for line in what]
    return lines
