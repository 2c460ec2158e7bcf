"""Which paths no plan opens: the product's own files, plans, reports, logs and the store of version control. Pure."""

from __future__ import annotations

from typing import Final

from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.latch import fold

_FOLDERS: Final = (("docs", "plans"), ("docs", "reports"), (".strictwire",))
"""From the root. Reports are written, once each, by write_file's own way for them."""

_ANYWHERE: Final = frozenset({".git", ".strictwire"})
"""At any depth: what git runs by itself (hooks) must not be written by an agent."""

_FILES: Final = frozenset({"strictwire.toml", "strictwire.lock", "audit-log.jsonl"})
"""In any folder."""


def is_guarded(path: JailPath) -> bool:
    """Whether nothing may be written there, moved there or taken from there. Case does not matter, as on some disks."""
    segments = tuple(map(fold, path.segments))
    if any(segments[: len(folder)] == folder for folder in _FOLDERS):
        return True
    if _ANYWHERE & set(segments) or segments[-1:] == ("docs",):
        return True
    name = segments[-1] if segments else ""
    return name in _FILES or name.startswith(TEMPORARY)
