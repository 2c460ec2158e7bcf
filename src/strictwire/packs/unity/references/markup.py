"""Assets that UI documents and style sheets name by path instead of GUID. Pure.

`project://database/Assets/UI/A.uss`, `/Assets/UI/A.uss` and paths relative to the file. Names below `Resources` folders
(`resource("Icon")`) cannot be resolved without the folders and are left out: everything in `Resources` counts as used.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final
from urllib.parse import unquote

_ATTRIBUTE: Final = re.compile(r"""\b(?:src|path)\s*+=\s*+(["'])(.*?)\1""")
_URL: Final = re.compile(r"""(?:url\(|@import\s++(?:url\()?)\s*+(["']?)([^"')\n;]++)\1""")
# Possessive quantifiers: without them a run of 100,000 blank lines takes hours.
_DATABASE: Final = "project://database"
MAX_PATHS: Final = 10_000
"""Paths of one file."""


def find_markup_paths(path: str, raw: bytes) -> tuple[str, ...]:
    """Project paths that a .uxml or .uss file names, sorted."""
    text = raw.decode("utf-8", "replace")
    named = [found[2] for pattern in (_ATTRIBUTE, _URL) for found in pattern.finditer(text)]
    resolved = {_resolve(path, each.replace("&amp;", "&")) for each in named[:MAX_PATHS]}
    return tuple(sorted(each for each in resolved if each))


def _resolve(source: str, named: str) -> str:
    """The path in the project; empty if it names nothing there."""
    target = unquote(named.removeprefix(_DATABASE).partition("?")[0].partition("#")[0]).strip()
    if not target or "://" in target:
        return ""
    if target.startswith("/"):
        found = posixpath.normpath(target.lstrip("/"))
    elif target.startswith(("Assets/", "Packages/")):
        found = posixpath.normpath(target)
    else:
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    return "" if found.startswith("..") else found
