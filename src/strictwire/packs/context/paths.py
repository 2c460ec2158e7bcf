"""Resolves a cache name to a directory. The rules for names are pure; resolving accesses the disk.

The command line does not restrict its paths and does not use this module.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from strictwire.packs.context.rules import Unusable


def is_plain_name(name: str) -> bool:
    """Return whether a name is acceptable: no `..` anywhere, and no leading slash or backslash."""
    return ".." not in name and not name.startswith(("/", "\\"))


def resolve_name(root: str, name: str) -> Path:
    """Return the real directory of the cache `name` below `root`.

    1. the name is plain; 2. it resolves; 3. the root resolves; 4. it is inside the root; 5. it is a directory.
    Raises Unusable: CACHE_INSIDE_ROOT, CACHE_EXISTS, ROOT_RESOLVES.
    """
    if not is_plain_name(name):
        raise Unusable("CACHE_INSIDE_ROOT")
    candidate = _resolve(Path(root) / name, "CACHE_EXISTS")
    inside = _resolve(root, "ROOT_RESOLVES")
    if candidate != inside and inside not in candidate.parents:
        raise Unusable("CACHE_INSIDE_ROOT")
    return require_directory(candidate)


def require_directory(path: Path) -> Path:
    """Return the path if it is a directory. Raises Unusable: CACHE_EXISTS."""
    try:
        is_directory = stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        raise Unusable("CACHE_EXISTS") from None
    if not is_directory:
        raise Unusable("CACHE_EXISTS")
    return path


def _resolve(path: str | Path, rule: str) -> Path:
    try:
        return Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        raise Unusable(rule) from None
