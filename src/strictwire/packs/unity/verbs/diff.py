"""`strictwire unity diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from strictwire.packs.unity.diff.git import WORKTREE, GitRefused, Repository
from strictwire.packs.unity.diff.render import DIFF_FORMATS
from strictwire.packs.unity.diff.run import ALL_ASSETS, SCENES, DiffOptions, compare_versions
from strictwire.packs.unity.diff.version import CommitFiles, DiskFiles, Version
from strictwire.packs.unity.verbs.outcome import COULD_NOT_RUN, FINDINGS, FINE, VerbRefused, VerbResult, runs

_SHA1_DIGITS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class UnityDiffOptions:
    """What to compare and how to show it."""

    before: str
    """A git ref, or `.` for the files on disk."""
    after: str
    path: Path
    """A file or folder in the repository; it need not exist on disk."""
    style: str
    """One of `DIFF_FORMATS`."""
    all_assets: bool = False
    """Whether materials, controllers and other text assets are compared too."""
    limit: int = 10_000
    """Changes of one file that are listed."""
    exit_code: bool = False
    """Whether differences give exit code 100."""


@runs
def run_diff(options: UnityDiffOptions, progress: Callable[[int, int], None]) -> VerbResult:
    """Compare two versions and report."""
    with open_versions(options.before, options.after, options.path) as (before, after, scope):
        if not before.projects and not after.projects:
            raise VerbRefused("neither version has a Unity project: no ProjectSettings/ProjectVersion.txt")
        wanted = DiffOptions(scope=scope, extensions=ALL_ASSETS if options.all_assets else SCENES, max_changes=options.limit)
        names = (options.before, options.after)
        diff = compare_versions(before, after, names=names, options=wanted, progress=progress)
    text = DIFF_FORMATS[options.style](diff)
    if not diff.is_complete:
        return VerbResult(exit_code=COULD_NOT_RUN, text=text, error="not everything could be compared; see the report")
    return VerbResult(exit_code=FINDINGS if diff.files and options.exit_code else FINE, text=text)


@contextmanager
def open_versions(before: str, after: str, path: Path) -> Iterator[tuple[Version, Version, str]]:
    """Two versions of the repository around a path, and the path in there. Raises GitRefused, NotAProject."""
    with ExitStack() as stack:
        start = path.absolute()
        while not start.exists():
            start = start.parent
        repository = stack.enter_context(Repository(start))
        commits = {ref: repository.resolve(ref) for ref in (before, after) if ref != WORKTREE}
        digits = len(next(iter(commits.values()), "0" * _SHA1_DIGITS))
        found = [_open(repository, ref, commits, digits, stack) for ref in (before, after)]
        yield found[0], found[1], _scope(repository, path)


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
