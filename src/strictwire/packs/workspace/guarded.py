"""Which paths no plan opens: the product's own files, plans, reports, logs and the store of version control. Pure."""

from __future__ import annotations

from typing import Final

from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.latch import fold

GUARDED_FOLDERS: Final = (("docs", "plans"), ("docs", "reports"), (".strictwire",))
"""From the root. Reports are written, once each, by write_file's own way for them."""

_ANYWHERE: Final = frozenset({".git", ".strictwire"})
"""At any depth: what git runs by itself (hooks) must not be written by an agent."""

_FILES: Final = frozenset({"strictwire.toml", "strictwire.lock", "audit-log.jsonl"})
"""In any folder."""


def is_guarded(path: JailPath) -> bool:
    """Whether nothing may be written there, moved there or taken from there. Case does not matter, as on some disks."""
    segments = tuple(map(fold, path.segments))
    # Also what would stand in the place of such a folder: a file named `docs`.
    if any(segments[: len(folder)] == folder[: len(segments)] for folder in GUARDED_FOLDERS) or _ANYWHERE & set(segments):
        return True
    return segments[-1] in _FILES or segments[-1].startswith(TEMPORARY)
