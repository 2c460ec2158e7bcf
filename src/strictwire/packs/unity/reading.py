"""Reads scenes, prefabs and other assets that Unity writes, and says plainly why one cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from strictwire.fault.failure import Refused
from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.project.kinds import Form, form_of
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.yaml.decoded import structure_of
from strictwire.packs.unity.yaml.document import Document, DocumentReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed
from strictwire.packs.unity.yaml.index import has_documents, index_documents
from strictwire.packs.unity.yaml.objects import Structure
from strictwire.packs.unity.yaml.structure import read_structure

MAX_ASSET: Final = 256 * 1024 * 1024
"""Bytes of a text asset that is read. The largest text scene of the open projects that were measured has 3.9 MB."""


class Unreadable(Exception):
    """An asset that cannot be read. `reason` completes a sentence that begins with the file."""

    def __init__(self, obstacle: Obstacle, reason: str) -> None:
        super().__init__(reason)
        self.obstacle = obstacle
        self.reason = reason


_FORMS: Final[Mapping[Form, tuple[Obstacle, str]]] = MappingProxyType(
    {
        Form.LFS_POINTER: (Obstacle.LFS_POINTER, "is a Git LFS pointer; fetch the content with `git lfs pull`"),
        Form.BINARY: (
            Obstacle.BINARY,
            "is saved in binary form; install strictwire[unity-binary] or save it as text",
        ),
        Form.EMPTY: (Obstacle.UNREADABLE, "is empty"),
        Form.TEXT: (Obstacle.UNREADABLE, "is not in a format of Unity"),
    }
)
"""What keeps a file of each form from being read."""

_REFUSALS: Final[Mapping[str, tuple[Obstacle, str]]] = MappingProxyType(
    {
        "FILE_NOT_FOUND": (Obstacle.ABSENT, "does not exist"),
        "PATH_NOT_FOUND": (Obstacle.ABSENT, "does not exist"),
        "CAP_EXCEEDED": (Obstacle.UNREADABLE, "is larger than the reader accepts"),
        "OUTSIDE_WORKSPACE": (Obstacle.UNREADABLE, "leads outside the project"),
    }
)
"""What the path jail refuses. Everything else is a file that cannot be read."""

ReadBinary: TypeAlias = Callable[[bytes], Mapping[int, Document]]
"""The documents of an asset that is saved in binary form, by file id. Raises Unreadable."""


def read_asset(project: Project, path: str) -> tuple[Form, bytes]:
    """The content of an asset and its form. Raises Unreadable: absent, outside, too large, or an error of the disk."""
    try:
        raw = project.read(path, limit=MAX_ASSET)
    except Refused as exc:
        raise Unreadable(*_REFUSALS.get(exc.failure.code, (Obstacle.UNREADABLE, "cannot be read"))) from exc
    return form_of(raw), raw


def read_yaml(project: Project, path: str) -> bytes:
    """The content of an asset in Unity YAML. Raises Unreadable."""
    form, raw = read_asset(project, path)
    if form is not Form.YAML:
        raise Unreadable(*_FORMS[form])
    return raw


FileDocuments: TypeAlias = Callable[[int], Document | None]
"""A document of one file by its id; None if there is none. Raises Unreadable."""


def load_structure(project: Project, path: str, read_binary: ReadBinary | None = None) -> Structure:
    """The structure of a scene or prefab. Raises Unreadable, also for damage that would give a wrong tree."""
    form, raw = read_asset(project, path)
    if form is Form.BINARY and read_binary is not None:
        return structure_of(read_binary(raw))
    if form is not Form.YAML:
        raise Unreadable(*_FORMS[form])
    if not has_documents(raw):
        raise Unreadable(Obstacle.UNREADABLE, "ends before its first object; restore it from version control")
    try:
        structure = read_structure(raw)
    except Malformed as exc:
        raise damaged(exc) from exc
    conflict = next((each for each in structure.problems if each.fault is Fault.CONFLICT_MARKER), None)
    if conflict is not None:
        raise Unreadable(Obstacle.UNREADABLE, f"has a merge conflict marker at line {conflict.line}; finish the merge first")
    return structure


def load_documents(project: Project, path: str, read_binary: ReadBinary | None = None) -> FileDocuments:
    """The documents of an asset, read one by one when they are asked for. Raises Unreadable."""
    form, raw = read_asset(project, path)
    if form is Form.BINARY and read_binary is not None:
        return read_binary(raw).get
    if form is not Form.YAML:
        raise Unreadable(*_FORMS[form])
    headers = {each.file_id: each for each in reversed(index_documents(raw))}
    reader = DocumentReader(raw)

    def read(file_id: int) -> Document | None:
        try:
            return reader.read(headers[file_id]) if file_id in headers else None
        except Malformed as exc:
            raise damaged(exc) from exc

    return read


def damaged(exc: Malformed) -> Unreadable:
    """A file whose text cannot be followed."""
    return Unreadable(Obstacle.UNREADABLE, f"is damaged: {exc.problem}")
