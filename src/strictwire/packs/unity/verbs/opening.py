"""Opens the projects that a path on the command line means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from strictwire.packs.unity.project.find import find_boundary, find_projects
from strictwire.packs.unity.references.index import ProjectIndex
from strictwire.packs.unity.verbs.outcome import VerbRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """One project."""

    index: ProjectIndex
    prefix: str
    """Where it lies in the repository, with a slash; empty if it is the whole of it."""
    scope: str
    """The part of the project that is meant; empty for all of it."""


@contextmanager
def open_projects(path: Path, *, folder: Path | None) -> Iterator[tuple[Opened, ...]]:
    """The project around a path, or those below it. `folder` keeps indexes from one run to the next.

    Raises NotAProject; VerbRefused: the path does not exist.
    """
    if not path.exists():
        raise VerbRefused(f"{path} does not exist")
    start = path.resolve()
    with ExitStack() as stack:
        opened = []
        for root in find_projects(start):
            made = _open(root, start, folder)
            stack.callback(made.index.close)
            opened.append(made)
        yield tuple(opened)


def _open(root: Path, start: Path, folder: Path | None) -> Opened:
    boundary = find_boundary(root)
    place = root.relative_to(boundary).as_posix()
    scope = start.relative_to(root).as_posix() if start.is_relative_to(root) else "."
    # An index inside the project would change what it describes.
    kept = folder if folder is None or not folder.resolve().is_relative_to(root) else None
    return Opened(
        index=ProjectIndex(root, boundary=boundary, folder=kept),
        prefix="" if place == "." else f"{place}/",
        scope="" if scope == "." else scope,
    )


@contextmanager
def open_asset(asset: str, *, project: Path, folder: Path | None) -> Iterator[tuple[Opened, str]]:
    """The project of an asset and its path in there. The asset may be a path on disk or in the project.

    Raises NotAProject; VerbRefused: there is no such asset, or several projects and none is named.
    """
    on_disk = Path(asset)
    start = on_disk if on_disk.exists() else project
    with open_projects(start, folder=folder) as opened:
        if len(opened) > 1:
            named = ", ".join(each.prefix.rstrip("/") for each in opened[:5])
            raise VerbRefused(f"there are {len(opened)} projects below {start}; choose one with --project: {named}")
        only = opened[0]
        yield only, only.scope if on_disk.exists() else asset.strip("/")
