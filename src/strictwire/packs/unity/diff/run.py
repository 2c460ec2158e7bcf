"""Compares two versions of a repository, a project or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.unity.diff.model import Change, FileDiff, ProjectDiff, Status
from strictwire.packs.unity.diff.scene import SceneDiff
from strictwire.packs.unity.diff.side import Side, find_obstacle
from strictwire.packs.unity.diff.version import Version
from strictwire.packs.unity.project.kinds import YAML_EXTENSIONS
from strictwire.packs.unity.references.graph import Progress, Stop, never, silent

SCENES: Final = (".unity", ".prefab")
ALL_ASSETS: Final = tuple(sorted(YAML_EXTENSIONS))

MAX_CHANGES: Final = 10_000
"""Changes of one file that are listed."""

_EMPTY: Final = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
"""What a file is compared with that one version does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A file in both versions; None where it does not exist."""

    before: str | None
    after: str | None

    @property
    def status(self) -> Status:
        if self.before is None:
            return Status.ADDED
        if self.after is None:
            return Status.REMOVED
        return Status.MODIFIED if self.before == self.after else Status.RENAMED


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What to compare."""

    scope: str = ""
    """A file or folder from the root of the repository; empty for everything."""
    extensions: tuple[str, ...] = SCENES
    max_changes: int = MAX_CHANGES


def compare_versions(
    before: Version,
    after: Version,
    *,
    names: tuple[str, str],
    options: DiffOptions,
    progress: Progress = silent,
    stop: Stop = never,
) -> ProjectDiff:
    """The changes from one version to the other. `names` are the versions as the user named them.

    `stop` is asked before each file; True ends the comparison with what is done so far.
    """
    pairs = list(_changed(before, after, options))
    files: list[FileDiff] = []
    for pair in pairs:
        if stop():
            break
        files.append(_compare_file(before, after, pair, names, options.max_changes))
        progress(len(files), len(pairs))
    return ProjectDiff(before=names[0], after=names[1], files=tuple(files), skipped=len(pairs) - len(files))


def _changed(before: Version, after: Version, options: DiffOptions) -> Iterator[_Pair]:
    old = _in_scope(before.files.identities(options.extensions), options.scope)
    new = _in_scope(after.files.identities(options.extensions), options.scope)
    gone = {path for path in old if path not in new}
    fresh = {path for path in new if path not in old}
    origins = dict(_renames(before, after, gone, fresh))
    for path in sorted({*old, *new} - set(origins.values())):
        if path in origins:
            yield _Pair(before=origins[path], after=path)
        elif old.get(path) != new.get(path) or old.get(path) == "":
            yield _Pair(before=path if path in old else None, after=path if path in new else None)


def _in_scope(identities: Mapping[str, str], scope: str) -> dict[str, str]:
    return {path: each for path, each in identities.items() if not scope or path == scope or path.startswith(f"{scope}/")}


def _renames(before: Version, after: Version, gone: set[str], fresh: set[str]) -> Iterator[tuple[str, str]]:
    """Files that have another path and the same GUID in the same project: the new path and the old one."""
    for path in sorted(gone):
        project = before.project_of(path)
        guid = before.guid_of(path) if project is not None else ""
        moved = after.path_of(project, guid) if project is not None and guid and project in after.projects else None
        if moved is not None and moved in fresh:
            yield moved, path


def _compare_file(before: Version, after: Version, pair: _Pair, names: tuple[str, str], limit: int) -> FileDiff:
    path = pair.after or pair.before or ""
    old_path = pair.before if pair.status is Status.RENAMED else None
    sides = []
    for version, place, name in ((before, pair.before, names[0]), (after, pair.after, names[1])):
        side = _open(version, place, path)
        if isinstance(side, Side) and side.is_unreadable:
            side = f"is damaged: {side.damage[0]}"
        if isinstance(side, str):
            return FileDiff(path=path, old_path=old_path, status=pair.status, problem=f"at {name} the file {side}")
        sides.append(side)
    scene = SceneDiff(*sides)
    found = scene.changes()
    changes = tuple(sorted(islice(found, limit), key=_order))
    omitted = sum(1 for _ in found)
    return FileDiff(
        path=path, old_path=old_path, status=pair.status, changes=changes, omitted=omitted, problem=_problem(sides, names)
    )


def _open(version: Version, place: str | None, path: str) -> Side | str:
    """One side of a comparison, or why there is none."""
    project = version.project_of(place or path)
    if project is None:
        return "is in no Unity project" if place is not None else Side(_EMPTY, version.sources(""), lambda _guid: None)
    raw = _EMPTY
    if place is not None:
        try:
            raw = version.files.read(place)
        except Refused:
            return "cannot be read"
        obstacle = find_obstacle(raw)
        if obstacle:
            return obstacle
    return Side(raw, version.sources(project), lambda guid: version.path_of(project, guid))


def _problem(sides: list[Side], names: tuple[str, str]) -> str:
    for side, name in zip(sides, names, strict=True):
        if side.damage:
            return f"at {name} the file is damaged: {side.damage[0]}"
        if side.unread:
            count, first = len(side.unread), side.unread[0]
            return f"at {name} {count} objects are malformed and were not compared, the first with fileID {first}"
    return ""


def _order(change: Change) -> tuple[str, int]:
    """By object; what happened to one object stays in its order."""
    return change.object, change.file_id
