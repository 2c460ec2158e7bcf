"""Which documents an engine has open from its start, so that it loads the projects of a root. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.languages import maybe_language

MAX_LOADED: Final = 32
"""Documents opened at the start, one for each project."""


def documents_to_load(spec: EngineSpec, root: Path, paths: tuple[str, ...]) -> list[str]:
    """Documents that make an engine load the projects of a root: the first source file of each project.

    An engine that reads closed files and knows no projects needs none.
    """
    if not spec.opens and not spec.projects:
        return []
    inside = [path for path in paths if path.startswith(f"{root}/")]
    projects = {path.rpartition("/")[0] for path in inside if path.rpartition("/")[2] in spec.projects} or {str(root)}
    first: dict[str, str] = {}
    for path in inside:
        if maybe_language(path) in spec.languages:
            project = _project_of(path, projects)
            if project is not None:
                first.setdefault(project, path)
    return list(first.values())[:MAX_LOADED]


def _project_of(path: str, projects: set[str]) -> str | None:
    folder = path.rpartition("/")[0]
    while folder:
        if folder in projects:
            return folder
        folder = folder.rpartition("/")[0]
    return None
