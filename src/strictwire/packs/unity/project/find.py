"""Finds Unity projects: a project is where `ProjectSettings/ProjectVersion.txt` is. A repository may hold several."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

MARKER: Final = Path("ProjectSettings") / "ProjectVersion.txt"

MAX_DEPTH: Final = 12
"""Folders between the start and a project. Deeper projects are found by naming them."""

MAX_FOLDERS: Final = 50_000
"""Folders that are looked into."""

_SKIPPED: Final = frozenset({"Library", "Temp", "Logs", "obj", "bin", "node_modules", "__pycache__"})
_OWN_FOLDERS: Final = frozenset({"Assets", "Packages", "ProjectSettings", "UserSettings"})
"""Folders of a project, in which no other project is looked for."""

_VERSION: Final = re.compile(r"^m_EditorVersion:[ \t]*(\S{1,64})", re.MULTILINE)
_MAX_VERSION_FILE: Final = 64 * 1024


class NotAProject(Exception):
    """There is no Unity project at a path. Carries the path as it was given."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"no Unity project: {self.path} has no {MARKER.as_posix()}, and neither has a folder above or below it"


class SearchTooLarge(NotAProject):
    """There are more folders than are looked into, so projects may have been missed."""

    def __str__(self) -> str:
        return f"more than {MAX_FOLDERS:,} folders below {self.path}; name the folder of one project"


def is_project(folder: Path) -> bool:
    """Whether a folder is the root of a project."""
    return (folder / MARKER).is_file()


def find_projects(start: Path, *, max_folders: int = MAX_FOLDERS) -> tuple[Path, ...]:
    """The project around a path, or else those below it, sorted. Raises NotAProject, SearchTooLarge."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if is_project(folder):
            return (folder,)
    found = tuple(sorted(_below(start, max_folders)))
    if not found:
        raise NotAProject(start)
    return found


def find_boundary(project: Path) -> Path:
    """The repository around a project, or the project itself: how far local packages may be read."""
    for folder in (project, *project.parents):
        if (folder / ".git").exists():
            return folder
    return project


def read_editor_version(project: Path) -> str:
    """The version of the editor that wrote the project, such as `2022.3.10f1`; empty if the file does not say."""
    with suppress(OSError):
        with (project / MARKER).open("rb") as file:
            found = _VERSION.search(file.read(_MAX_VERSION_FILE).decode("utf-8", "replace"))
        return found[1] if found else ""
    return ""


def _below(start: Path, max_folders: int) -> Iterator[Path]:
    waiting, seen = [(os.fspath(start), 0)], 0
    while waiting:
        folder, depth = waiting.pop()
        seen += 1
        if seen > max_folders:
            raise SearchTooLarge(start)
        names = _folders(folder)
        is_here = "ProjectSettings" in names and is_project(Path(folder))
        if is_here:
            yield Path(folder)
        if depth < MAX_DEPTH:
            skipped = _SKIPPED | _OWN_FOLDERS if is_here else _SKIPPED
            waiting += [(os.path.join(folder, name), depth + 1) for name in names if name not in skipped]  # noqa: PTH118


def _folders(folder: str) -> set[str]:
    """Names of folders that are not hidden. Links are not followed."""
    try:
        with os.scandir(folder) as entries:
            return {
                entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            }
    except OSError:
        return set()
