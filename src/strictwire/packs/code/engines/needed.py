"""Which languages the roots hold, with the files of each. Worked out again only when files come or go."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TypeAlias

from strictwire.packs.code.files import Files
from strictwire.packs.code.languages import maybe_language

Key: TypeAlias = tuple[Path, str]
"""Root and language: what one engine process serves."""


class Needed:
    """See the module."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._roots = sorted(((f"{root}/", root) for root in files.roots), reverse=True)
        """The inner one of two roots comes first, because its name is longer."""
        self._found: dict[Key, list[str]] = {}
        self._at = -1

    def all(self) -> list[Key]:
        """Every root with every language in it, sorted."""
        return sorted(self._by_key())

    def paths(self, key: Key) -> list[str]:
        """The files of a language in a root, sorted."""
        return self._by_key().get(key, [])

    def root_of(self, path: str) -> Path:
        """The innermost root around a path. Raises FileNotFoundError: there is none."""
        for prefix, root in self._roots:
            if path.startswith(prefix):
                return root
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _by_key(self) -> dict[Key, list[str]]:
        if self._at != self._files.fs:
            self._at, self._found = self._files.fs, {}
            for path in self._files.paths:
                language = maybe_language(path)
                if language is not None:
                    self._found.setdefault((self.root_of(path), language), []).append(path)
        return self._found
