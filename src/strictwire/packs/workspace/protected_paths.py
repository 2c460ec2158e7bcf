"""Names of files that no plan can open: strictwire's own files, plans, reports, logs and version control. Pure.

A path is judged by its place on the disk, from the top of the file system down, so the answer does not depend on which
folder a session has chosen as its root. `protection` looks at the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.path_locks import fold

RESERVED: Final = (("docs", "plans"), ("docs", "reports"))
"""Folders of every workspace. Reports are an exception: write_file can create them, once each."""

_ANYWHERE: Final = frozenset({".git", ".strictwire"})
"""Names in any folder, with everything below them. An agent must not write git hooks, for example, because git runs them."""

_FILES: Final = frozenset({"strictwire.toml", "strictwire.lock", "audit-log.jsonl"})
"""File names in any folder."""

_PLAN_FILE: Final = re.compile(r"[0-9a-f]{64}\.(md|approval\.json)", re.ASCII)


def is_own_name(name: str) -> bool:
    """Return whether a name is protected wherever it is. Ignores case, as some file systems do."""
    return fold(name) in _ANYWHERE | _FILES


def is_temporary(name: str) -> bool:
    """Return whether a name is that of a temporary file of an unfinished write."""
    return fold(name).startswith(TEMPORARY)


def is_plan_file(name: str) -> bool:
    """Return whether a name has the form of a plan or an approval."""
    return _PLAN_FILE.fullmatch(name) is not None


def is_inside(names: Sequence[str], is_workspace: Callable[[int], bool]) -> bool:
    """Return whether a folder and everything in it is protected.

    `names` are the segments of its absolute path; `is_workspace(n)` tells whether the first n of them lead to a workspace.
    """
    folded = tuple(map(fold, names))
    if _ANYWHERE & set(folded):
        return True
    return any(folded[depth : depth + 2] in RESERVED and is_workspace(depth) for depth in range(len(folded)))


def is_protected(names: Sequence[str], is_workspace: Callable[[int], bool]) -> bool:
    """Return whether a path must not be written, moved or deleted. See `is_inside` for the arguments."""
    last = fold(names[-1])
    if is_inside(names, is_workspace) or is_own_name(last) or is_temporary(last):
        return True
    # A file named `docs` would take the place of `docs/plans`.
    return any(last == folder[0] for folder in RESERVED) and is_workspace(len(names) - 1)
