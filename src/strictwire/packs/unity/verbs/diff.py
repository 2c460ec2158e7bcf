"""`strictwire unity diff`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strictwire.packs.unity.diff.render import DIFF_FORMATS
from strictwire.packs.unity.diff.run import ALL_ASSETS, SCENES, DiffOptions, compare_versions
from strictwire.packs.unity.diff.versions import open_versions
from strictwire.packs.unity.verbs.outcome import COULD_NOT_RUN, FINDINGS, FINE, VerbRefused, VerbResult, runs


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
    with open_versions(options.before, options.after, options.path) as opened:
        if not opened.before.projects and not opened.after.projects:
            raise VerbRefused("neither version has a Unity project: no ProjectSettings/ProjectVersion.txt")
        wanted = DiffOptions(
            scope=opened.scope, extensions=ALL_ASSETS if options.all_assets else SCENES, max_changes=options.limit
        )
        names = (options.before, options.after)
        diff = compare_versions(opened.before, opened.after, names=names, options=wanted, progress=progress)
    text = DIFF_FORMATS[options.style](diff)
    if not diff.is_complete:
        return VerbResult(exit_code=COULD_NOT_RUN, text=text, error="not everything could be compared; see the report")
    return VerbResult(exit_code=FINDINGS if diff.files and options.exit_code else FINE, text=text)
