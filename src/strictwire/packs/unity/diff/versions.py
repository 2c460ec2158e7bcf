"""Opens the two versions that a diff compares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from strictwire.packs.unity.diff.git import WORKTREE, GitRefused, Repository
from strictwire.packs.unity.diff.version import CommitFiles, DiskFiles, Version

_SHA1_DIGITS: Final = 40


class Versions(NamedTuple):
    """Two versions of one repository."""

    before: Version
    after: Version
    root: Path
    """Of the repository."""
    scope: str
    """The path that is meant, from the root; empty for all of it."""


@contextmanager
def open_versions(before: str, after: str, path: Path) -> Iterator[Versions]:
    """Two versions of the repository around a path. Raises GitRefused, NotAProject."""
    with ExitStack() as stack:
        start = path.absolute()
        while not start.exists():
            start = start.parent
        repository = stack.enter_context(Repository(start))
        commits = {ref: repository.resolve(ref) for ref in (before, after) if ref != WORKTREE}
        digits = len(next(iter(commits.values()), "0" * _SHA1_DIGITS))
        found = [_open(repository, ref, commits, digits, stack) for ref in (before, after)]
        yield Versions(found[0], found[1], repository.root, _scope(repository, path))


def _open(repository: Repository, ref: str, commits: dict[str, str], digits: int, stack: ExitStack) -> Version:
    if ref != WORKTREE:
        return Version(CommitFiles(repository, commits[ref]))
    files = DiskFiles(repository.root, digits=digits)
    stack.callback(files.close)
    return Version(files)


def _scope(repository: Repository, path: Path) -> str:
    """The path from the root of the repository; empty for the root. Raises GitRefused: it lies outside."""
    place = path.absolute().resolve()
    if not place.is_relative_to(repository.root.resolve()):
        raise GitRefused(f"{path} is outside the repository")
    scope = place.relative_to(repository.root.resolve()).as_posix()
    return "" if scope == "." else scope
