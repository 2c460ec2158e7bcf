"""Emergency stops: a file in the state folder for each stopped folder. Every server that shares the folder obeys at once.

A stop is set by an operator, not by a failure: no report lifts it, only `strictwire workspace resume`. It covers the folder
and everything in it. Reading stays open. Files are read before every change, because another process writes them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from strictwire.canon.json import render
from strictwire.packs.kit.path import is_within
from strictwire.packs.workspace.state_files import StateDamaged, read_state, sync_folder, write_draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Who stopped a folder, when and why."""

    root: str
    by: str
    at: str
    reason: str

    @property
    def text(self) -> str:
        """A sentence for people and agents."""
        return f"{self.by} stopped all changes at {self.at}: {self.reason}"


class Stops:
    """See the module docstring. Every method raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, stop: Stop) -> None:
        """Stop a folder durably. A stop that is there already is replaced."""
        write_draft(self._folder, render(asdict(stop))).replace(self._path(stop.root))
        sync_folder(self._folder)

    def remove(self, root: str) -> Stop | None:
        """Lift the stop of exactly this folder and return it; None if there is none."""
        found = next((each for each in self._all() if each.root == root), None)
        if found is not None:
            self._path(root).unlink(missing_ok=True)
            sync_folder(self._folder)
        return found

    def maybe_find(self, root: str) -> Stop | None:
        """Return a stop of this folder or of one above it, or None."""
        return next((each for each in self._all() if is_within(root, each.root)), None)

    def _all(self) -> Iterator[Stop]:
        for path in sorted(self._folder.glob("*.json")):
            with suppress(FileNotFoundError):
                yield _parse(path)

    def _path(self, root: str) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(root)).hexdigest()}.json"


def _parse(path: Path) -> Stop:
    """Read a stop. A damaged file stops everything: it is unknown which folder it meant."""
    try:
        return read_state(path, Stop)
    except StateDamaged:
        return Stop(root="/", by="unknown", at="unknown", reason=f"the file {path.name} in the state folder is damaged")
