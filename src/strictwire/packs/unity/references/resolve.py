"""Whether a reference leads to an object: its asset, as `project.verdict` judges it, and the id in that asset. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from strictwire.fault.failure import Refused
from strictwire.packs.unity.hierarchy.tree import nested_id
from strictwire.packs.unity.project.kinds import Form, extension_of
from strictwire.packs.unity.project.verdict import Verdict, judge_guid
from strictwire.packs.unity.recent import Recent
from strictwire.packs.unity.references.graph import Graph
from strictwire.packs.unity.references.scan import Remote, Scan, scan_file

PREFAB_ASSET: Final = 100100000
"""The id that stands for a prefab as a whole."""

MAX_IDS: Final = 500_000
"""Ids of one prefab with everything nested in it. Beyond, ids are not checked: 17 nested prefabs can make 131,071."""

MAX_KEPT: Final = 2_000_000
"""Ids of all prefabs that are remembered, about 110 bytes each. Those unused longest are worked out again."""

MAX_DEPTH: Final = 100
"""Prefabs nested in each other."""

_NATIVE: Final = 2
"""The `type` of references to files that Unity writes itself, whose ids are those in the file."""

IdSet: TypeAlias = frozenset[int] | None
"""Ids of a file; None if they cannot be told."""


class _Known(NamedTuple):
    """What was worked out about a file."""

    ids: IdSet


class Resolver:
    """Judges the references of one graph. Remembers what it worked out; not for several threads at once."""

    def __init__(self, graph: Graph) -> None:
        self._project = graph.project
        self._graph = graph
        self._ids: Recent[str, _Known] = Recent(MAX_KEPT, lambda known: 1 + len(known.ids or ()))
        self.cycles: set[tuple[str, ...]] = set()
        """Prefabs that contain each other, as far as they were met."""

    def judge_guid(self, guid: str) -> Verdict:
        """Whether an asset has a GUID."""
        return judge_guid(self._project, guid)

    def judge(self, remote: Remote) -> Verdict:
        """Whether a reference leads to an object."""
        verdict = self.judge_guid(remote.guid)
        if verdict is not Verdict.RESOLVED:
            return verdict
        path = self._project.by_guid.get(remote.guid)
        if path is None or not _has_file_ids(path, remote.type):
            return Verdict.RESOLVED
        ids = self.ids_of(path)
        is_there = ids is None or remote.file_id in ids or remote.file_id == PREFAB_ASSET
        return Verdict.RESOLVED if is_there else Verdict.MISSING_OBJECT

    def ids_of(self, path: str) -> IdSet:
        """The ids by which other files can name objects of a file, nested prefabs included."""
        return self._ids_of(path, ())

    def _ids_of(self, path: str, chain: tuple[str, ...]) -> IdSet:
        if path in chain:
            loop = chain[chain.index(path) :]
            first = loop.index(min(loop))
            self.cycles.add(loop[first:] + loop[:first])
            return None
        known = self._ids.get(path)
        if known is None:
            scan = self._scan_of(path) if len(chain) < MAX_DEPTH else None
            known = self._ids.put(path, _Known(self._collect(scan, (*chain, path)) if scan is not None else None))
        return known.ids

    def _collect(self, scan: Scan, chain: tuple[str, ...]) -> IdSet:
        ids = set(scan.file_ids())
        total = len(ids)
        placed: list[tuple[int, frozenset[int]]] = []
        # Sets are copied only after the last of them is found: 100 prefabs nested in each other wait for theirs here.
        for instance, guid in scan.instances:
            source = self._project.path_of(guid)
            inner = self._ids_of(source, chain) if source is not None else None
            total += len(inner or ())
            if inner is None or total > MAX_IDS:
                return None
            placed.append((instance, inner))
        for instance, inner in placed:
            ids.update(nested_id(instance, each) for each in inner)
        return frozenset(ids)

    def _scan_of(self, path: str) -> Scan | None:
        """A scan whose ids are complete: text, undamaged, with ids at all."""
        found = self._graph.scans.get(path)
        scan = found.scan if found is not None else self._scan_foreign(path)
        is_usable = scan is not None and scan.form is Form.YAML and not scan.problems and not path.endswith(".unity")
        return scan if is_usable else None

    def _scan_foreign(self, path: str) -> Scan | None:
        """A prefab of a package, which is not part of the graph."""
        if path not in self._project.foreign:
            return None
        try:
            return scan_file(path, self._project.read(path))
        except Refused:
            return None


def _has_file_ids(path: str, kind: int) -> bool:
    """Whether the ids in a reference are those of the documents of its target; importers make up ids of their own."""
    return extension_of(path) == ".prefab" or kind == _NATIVE
