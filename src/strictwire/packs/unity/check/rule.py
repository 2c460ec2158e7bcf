"""A rule is a record and one function that yields a Problem for each place where it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from strictwire.check.finding import Level
from strictwire.fault.failure import Refused
from strictwire.packs.unity.naming import Names
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.references.graph import Graph, Stop, never
from strictwire.packs.unity.references.resolve import Resolver
from strictwire.packs.unity.references.scan import Scan
from strictwire.packs.unity.sources import Sources, maybe_structure, project_sources

DEFAULT_MAX_BYTES: Final = 50_000_000
"""Above it GitHub warns about a file that is pushed; at twice the size it refuses."""

ANY_TYPE: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds that a project may set."""

    max_bytes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({ANY_TYPE: DEFAULT_MAX_BYTES}))
    """Largest asset in bytes, by asset type; `*` is for all others."""

    def max_bytes_of(self, asset_type: str) -> int:
        """The bound for one type."""
        return self.max_bytes.get(asset_type, self.max_bytes.get(ANY_TYPE, DEFAULT_MAX_BYTES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One place where a rule does not hold."""

    file: str
    """Path in the project."""
    message: str
    line: int = 0
    """Counted from 1; 0 if the whole file is meant."""
    place: str = ""
    """Which part of the file, in words that stay the same when lines move: it identifies the finding in a baseline."""


@dataclass(slots=True, kw_only=True)
class Subject:
    """What rules judge. Files are read once and kept while one rule works on them."""

    graph: Graph
    limits: Limits
    resolver: Resolver
    sources: Sources
    stop: Stop
    """Asked before each file and finding; True ends the check with what it has."""
    is_stopped: bool = False
    """Whether that happened."""
    lost: set[str] = field(default_factory=set)
    """Files that could be scanned and can no longer be read."""
    _last: tuple[str, bytes] = ("", b"")
    _names: tuple[str, Names | None] = ("", None)

    @property
    def project(self) -> Project:
        """The project."""
        return self.graph.project

    def scans(self) -> Iterator[tuple[str, Scan]]:
        """Every scanned file, until time is up."""
        for path, scanned in self.graph.scans.items():
            if self.is_late():
                return
            yield path, scanned.scan

    def is_late(self) -> bool:
        """Whether time is up; remembered in `is_stopped`."""
        self.is_stopped = self.is_stopped or self.stop()
        return self.is_stopped

    def read(self, path: str) -> bytes:
        """The content of a file; empty, and noted in `lost`, if it can no longer be read."""
        if self._last[0] != path:
            try:
                self._last = (path, self.project.read(path))
            except Refused:
                self.lost.add(path)
                self._last = (path, b"")
        return self._last[1]

    def names_of(self, path: str) -> Names | None:
        """The names of a scene or prefab; None for other files and damaged ones."""
        if self._names[0] != path:
            structure = maybe_structure(self.read(path)) if path.endswith((".unity", ".prefab")) else None
            self._names = (path, self.sources.names(structure) if structure else None)
        return self._names[1]


def make_subject(graph: Graph, limits: Limits, stop: Stop = never) -> Subject:
    """A subject for one run."""
    sources = project_sources(graph.project)
    return Subject(graph=graph, limits=limits, resolver=Resolver(graph), sources=sources, stop=stop)


Check = Callable[[Subject], Iterable[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnityRule:
    """See the module. Compared by identity: there is one record of each rule."""

    id: str
    purpose: str
    """One sentence, «Checks that …»."""
    advice: str
    """What to do about a finding."""
    severity: Level | None
    """By default; None is off."""
    check: Check


def unity_rule(**record: Any) -> Callable[[Check], UnityRule]:
    """Make the decorated function a rule. The fields are those of `UnityRule`."""

    def make(check: Check) -> UnityRule:
        return UnityRule(check=check, **record)

    return make
