"""Paths that no plan can open: strictwire's own files, plans, reports, logs and the repository of version control. Pure."""

from __future__ import annotations

from typing import Final

from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.path_locks import fold

PROTECTED_FOLDERS: Final = (("docs", "plans"), ("docs", "reports"), (".strictwire",))
"""Folders below the root. Reports are an exception: write_file can create them, once each."""

_ANYWHERE: Final = frozenset({".git", ".strictwire"})
"""Names at any depth. An agent must not write git hooks, for example, because git runs them."""

_FILES: Final = frozenset({"strictwire.toml", "strictwire.lock", "audit-log.jsonl"})
"""File names in any folder."""


def is_protected(path: JailPath) -> bool:
    """Return whether a path must not be written, moved or deleted. Ignores case, as some file systems do."""
    segments = tuple(map(fold, path.segments))
    # Also true for a parent of a protected folder: a file named `docs` would take the place of `docs/plans`.
    if any(segments[: len(folder)] == folder[: len(segments)] for folder in PROTECTED_FOLDERS) or _ANYWHERE & set(segments):
        return True
    return segments[-1] in _FILES or segments[-1].startswith(TEMPORARY)
