"""Which programs verification commands may start, where they are found, and with which environment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
"""Folders that are searched if the settings name none."""

RESERVED: Final = frozenset({"PATH", "HOME", "TMPDIR", "VIRTUAL_ENV"})
"""Variables that strictwire sets itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The programs of one server, from its settings."""

    names: frozenset[str] = frozenset()
    """Programs that may be started: names to search for, or paths, relative to the workspace or absolute."""
    path: tuple[str, ...] = PATH
    """Folders to search; relative ones are in the workspace."""
    virtual_environment: str | None = None
    """Python environment whose `bin` is searched first; a relative path is in the workspace."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More variables for every command."""

    def search_path(self, root: str) -> str:
        """Return PATH for commands in a workspace."""
        first = () if self.virtual_environment is None else (os.path.join(self.virtual_environment, "bin"),)
        return ":".join(os.path.join(root, each) for each in (*first, *self.path))

    def maybe_find(self, name: str, root: str) -> str | None:
        """Return the absolute path of a program; None if it is not there or cannot be executed. Does not ask if it is
        allowed."""
        if "/" not in name:
            return shutil.which(name, path=self.search_path(root))
        path = os.path.join(root, name)
        return path if os.path.isfile(path) and os.access(path, os.X_OK) else None

    def find_problem(self, name: str, root: str) -> tuple[str, str] | None:
        """Return why a program cannot be started, as a reason and a message; None if it can."""
        if name not in self.names:
            allowed = ", ".join(sorted(self.names)) or "none"
            text = f"The program {name!r} is not in the setting `commands`; allowed: {allowed}"
            return "not_allowed", f"{text}. Use one of them, or ask the operator to add it"
        if self.maybe_find(name, root) is None:
            text = f"The program {name!r} is allowed, but was not found in {self.search_path(root)}"
            return "not_found", f"{text}. Install it, or set `path` or `virtual_environment`"
        return None

    def environment(self, root: str, home: str) -> dict[str, str]:
        """Return all variables of a command."""
        own = {"PATH": self.search_path(root), "HOME": home, "TMPDIR": home}
        if self.virtual_environment is not None:
            own["VIRTUAL_ENV"] = os.path.join(root, self.virtual_environment)
        return {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **self.variables, **own}
