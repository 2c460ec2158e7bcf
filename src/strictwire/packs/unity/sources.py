"""Opens the prefabs that instances are made from, once each, for naming objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.unity.hierarchy.sources import Obstacle, Source
from strictwire.packs.unity.naming import Names
from strictwire.packs.unity.project.kinds import Form, form_of, type_of
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.yaml.document import DocumentReader
from strictwire.packs.unity.yaml.faults import Malformed
from strictwire.packs.unity.yaml.index import Header, index_documents
from strictwire.packs.unity.yaml.objects import Structure
from strictwire.packs.unity.yaml.structure import read_structure
from strictwire.packs.unity.yaml.values import Node

MAX_SOURCE: Final = 64 * 1024 * 1024
"""Bytes of a prefab that is opened for its names."""


def maybe_structure(raw: bytes) -> Structure | None:
    """The structure of a scene or prefab; None if it is not text or too damaged to have one."""
    if form_of(raw) is not Form.YAML:
        return None
    try:
        return read_structure(raw)
    except Malformed:
        return None


class Sources:
    """Prefabs and models by GUID. `read` gives the content of a path and raises Refused."""

    def __init__(self, path_of: Callable[[str], str | None], read: Callable[[str], bytes]) -> None:
        self._path_of = path_of
        self._read = read
        self._opened: dict[str, Source] = {}
        self._texts: dict[str, tuple[DocumentReader, dict[int, Header]]] = {}

    def __call__(self, guid: str) -> Source:
        """What an instance of this GUID is made from."""
        if guid not in self._opened:
            self._opened[guid] = self._find(guid)
        return self._opened[guid]

    def names(self, structure: Structure) -> Names:
        """The names of a file whose prefabs are opened here."""
        return Names(structure, self)

    def fields(self, guid: str, file_id: int) -> dict[str, Node]:
        """The fields of a document of a prefab; empty if there is none that can be read."""
        if guid not in self._texts:
            path = self._path_of(guid) or ""
            raw = self._read_or_nothing(path) if path.endswith(".prefab") else b""
            self._texts[guid] = (DocumentReader(raw), {each.file_id: each for each in index_documents(raw)})
        reader, headers = self._texts[guid]
        try:
            return reader.read(headers[file_id]).fields if file_id in headers else {}
        except Malformed:
            return {}

    def _find(self, guid: str) -> Source:
        path = self._path_of(guid)
        if path is None:
            return Source(path=guid, name=f"Missing Prefab (guid: {guid})", obstacle=Obstacle.ABSENT)
        is_model = type_of(path) == "Model"
        structure = None if is_model else self._structure(path)
        obstacle = Obstacle.MODEL if is_model else None if structure else Obstacle.UNREADABLE
        return Source(path=path, name=PurePosixPath(path).stem, structure=structure, obstacle=obstacle)

    def _structure(self, path: str) -> Structure | None:
        return maybe_structure(self._read_or_nothing(path))

    def _read_or_nothing(self, path: str) -> bytes:
        try:
            return self._read(path) if path else b""
        except Refused:
            return b""


def project_sources(project: Project) -> Sources:
    """The prefabs of a project and its packages."""
    return Sources(project.path_of, lambda path: project.read(path, limit=MAX_SOURCE))
