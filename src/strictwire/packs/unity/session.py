"""One project while it is served: its present state, and what was read from it so far.

Whatever is cached belongs to a state of the project or of a file, so a change is noticed by the next call. Any thread may
call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import PurePosixPath
from threading import Lock
from typing import Final

from strictwire.packs.unity.hierarchy.expand import Limits, build_tree
from strictwire.packs.unity.hierarchy.sources import Obstacle, Source
from strictwire.packs.unity.hierarchy.tree import Tree
from strictwire.packs.unity.project.kinds import type_of
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.project.walk import Stamp
from strictwire.packs.unity.reading import FileDocuments, ReadBinary, Unreadable, load_documents, load_structure
from strictwire.packs.unity.recent import Recent
from strictwire.packs.unity.references.index import SETTLED_NS, ProjectIndex
from strictwire.packs.unity.scripts.names import TypeNames
from strictwire.packs.unity.watching import ProjectWatch
from strictwire.packs.unity.yaml.objects import Structure

MAX_RECORDS: Final = 1_000_000
"""Objects and components of all structures that are kept: about 300 bytes each."""

MAX_OBJECTS: Final = 300_000
"""Objects of all trees that are kept: about 1 kB each."""


class Session:
    """See the module."""

    def __init__(
        self,
        index: ProjectIndex,
        watch: ProjectWatch,
        read_binary: ReadBinary | None = None,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.index = index
        self._now_ns = now_ns
        self._watch = watch
        self._read_binary = read_binary
        self._structures: Recent[tuple[str, Stamp], Structure | Unreadable] = Recent(MAX_RECORDS, _weigh_structure)
        self._snapshot: Snapshot | None = None
        self._lock = Lock()

    def snapshot(self) -> Snapshot:
        """The present state of the project."""
        project, changes = self.index.project(), self._watch.changes
        with self._lock:
            known = self._snapshot
            if known is None or known.project is not project or (known.changes != changes and not known.is_settled):
                known = self._snapshot = Snapshot(
                    project,
                    self._load,
                    read_binary=self._read_binary,
                    changes=changes,
                    is_settled=self._has_settled(project),
                )
            return known

    def close(self) -> None:
        """Let go of the project."""
        self.index.close()
        self._watch.close()

    def _has_settled(self, project: Project) -> bool:
        """Whether every file is older than a second change within the resolution of its time stamp could be."""
        limit = self._now_ns() - SETTLED_NS
        return all(asset.stamp.changed_ns < limit for asset in project.assets.values())

    def _load(self, project: Project, path: str) -> Structure:
        asset = project.assets.get(path) or project.foreign.get(path)
        if asset is None:
            raise Unreadable(Obstacle.ABSENT, "does not exist")
        found = self._structures.get((path, asset.stamp))
        if found is None:
            try:
                found = load_structure(project, path, self._read_binary)
            except Unreadable as exc:
                found = exc
            if asset.stamp.changed_ns < self._now_ns() - SETTLED_NS:
                self._structures.put((path, asset.stamp), found)
        if isinstance(found, Unreadable):
            raise Unreadable(found.obstacle, found.reason)  # a new one: an exception keeps every traceback it had
        return found


def _weigh_structure(found: Structure | Unreadable) -> int:
    return 1 if isinstance(found, Unreadable) else 1 + len(found.objects) + len(found.components) + len(found.stripped)


class Snapshot:
    """One state of the project."""

    def __init__(
        self,
        project: Project,
        load: Callable[[Project, str], Structure],
        *,
        read_binary: ReadBinary | None = None,
        changes: int = 0,
        is_settled: bool = True,
    ) -> None:
        """`changes` is what the watch had counted; `is_settled` whether another change is sure to show in a time stamp."""
        self.project = project
        self.changes = changes
        self.is_settled = is_settled
        self._read_binary = read_binary
        self.names = TypeNames(project)
        self._load = load
        self._trees: Recent[str, Tree] = Recent(MAX_OBJECTS, lambda tree: tree.objects)

    def structure(self, path: str) -> Structure:
        """The structure of a scene or prefab. Raises Unreadable."""
        return self._load(self.project, path)

    def documents(self, path: str) -> FileDocuments:
        """The documents of a scene, prefab or other asset. Raises Unreadable."""
        return load_documents(self.project, path, self._read_binary)

    def tree(self, path: str, limits: Limits) -> Tree:
        """The expanded scene or prefab. Raises Unreadable."""
        known = self._trees.get(path)
        if known is not None:
            return known
        tree = build_tree(path, self.structure(path), self, limits)
        return tree if tree.findings.is_late else self._trees.put(path, tree)

    def find(self, guid: str) -> Source:
        """See hierarchy.sources.Sources."""
        path = self.project.path_of(guid)
        if path is None:
            return Source(path=guid, name=f"Missing Prefab (guid: {guid})", obstacle=Obstacle.ABSENT)
        name = PurePosixPath(path).stem
        if type_of(path) == "Model":
            return Source(path=path, name=name, obstacle=Obstacle.MODEL)
        try:
            return Source(path=path, name=name, structure=self.structure(path))
        except Unreadable as exc:
            return Source(path=path, name=name, obstacle=exc.obstacle)
