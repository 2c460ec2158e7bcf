"""Which directory a cache name means. The rules of names are pure; resolving asks the disk.

The command line applies no restriction to its paths: it does not come here.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from strictwire.packs.context.rules import Unusable


def is_plain_name(name: str) -> bool:
    """Whether a name may be looked up at all: no `..` anywhere, not absolute in either slash."""
    return ".." not in name and not name.startswith(("/", "\\"))


def resolve_name(root: str, name: str) -> Path:
    """The real directory of the cache called `name` under `root`.

    1. the name is plain; 2. it resolves; 3. the root resolves; 4. it lies in the root; 5. it is a directory.
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
    """The path, if it is a directory. Raises Unusable: CACHE_EXISTS."""
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
