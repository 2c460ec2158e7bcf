"""One version of a repository: a commit, or the files on disk. Files, and GUIDs within each project.

GUIDs are read from .meta files when the first one is asked for; a diff that changes no reference needs none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit.jail import Jail
from strictwire.packs.unity.diff.git import MAX_BLOB, GitRefused, Repository, blob_id
from strictwire.packs.unity.project.find import MARKER, find_projects
from strictwire.packs.unity.project.meta import MAX_META, read_meta
from strictwire.packs.unity.project.project import META
from strictwire.packs.unity.project.walk import Walk, walk_folder
from strictwire.packs.unity.sources import Sources

_MARKER: Final = MARKER.as_posix()
_FOLDERS: Final = ("Assets", "Packages", "ProjectSettings")
"""What git keeps of a project; everything else is made by the editor."""


class Files(Protocol):
    """The files of a version."""

    def identities(self, extensions: tuple[str, ...]) -> Mapping[str, str]:
        """Files with these extensions, by path; equal identities mean equal content."""

    def read(self, path: str) -> bytes:
        """The content of a file. Raises Refused."""


class CommitFiles:
    """The files of a commit."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self._files = repository.files(commit)

    def identities(self, extensions: tuple[str, ...]) -> Mapping[str, str]:
        """See Files."""
        return {path: blob.oid for path, blob in self._files.items() if path.endswith(extensions)}

    def read(self, path: str) -> bytes:
        """See Files."""
        blob = self._files.get(path)
        if blob is None:
            raise Refused(fail("FILE_NOT_FOUND"))
        try:
            return self._repository.read(blob)
        except GitRefused as exc:
            raise Refused(fail("FILE_READ_FAILED", text=f"The file cannot be read: {exc}")) from exc


class DiskFiles:
    """The files of the projects below a folder. Identities are the ids that git would give them."""

    def __init__(self, root: Path, *, digits: int) -> None:
        """Raises NotAProject: there is no project."""
        self._jail = Jail(root)
        self._digits = digits
        walk = Walk()
        for project in find_projects(root):
            place = project.relative_to(root).as_posix().removeprefix(".")
            for folder in _FOLDERS:
                path = posixpath.join(place, folder)
                walk_folder(self._jail, path=path, place=path, into=walk)
        self._paths = frozenset(walk.files)

    def identities(self, extensions: tuple[str, ...]) -> Mapping[str, str]:
        """See Files."""
        found = {}
        for path in self._paths:
            if path.endswith(extensions):
                try:
                    found[path] = blob_id(self.read(path), self._digits)
                except Refused:
                    found[path] = ""
        return found

    def read(self, path: str) -> bytes:
        """See Files."""
        return self._jail.read(path, limit=MAX_BLOB)

    def close(self) -> None:
        """Let go of the folder."""
        self._jail.close()


class Version:
    """A version with its projects."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.projects: Final = sorted(
            (path.removesuffix(_MARKER).rstrip("/") for path in files.identities((_MARKER,)) if _is_marker(path)),
            key=len,
            reverse=True,
        )
        self._guids: dict[str, dict[str, str]] = {}
        self._sources: dict[str, Sources] = {}

    def project_of(self, path: str) -> str | None:
        """The innermost project that a path lies in; None if there is none."""
        return next((each for each in self.projects if not each or path.startswith(f"{each}/")), None)

    def path_of(self, project: str, guid: str) -> str | None:
        """The asset of a project with a GUID, from the root of the repository."""
        if project not in self._guids:
            self._guids[project] = self._read_guids(project)
        return self._guids[project].get(guid)

    def guid_of(self, path: str) -> str:
        """The GUID of an asset; empty if its .meta file is missing or has none."""
        return self._guid(path + META)

    def sources(self, project: str) -> Sources:
        """The prefabs of a project."""
        if project not in self._sources:
            self._sources[project] = Sources(lambda guid: self.path_of(project, guid), self.files.read)
        return self._sources[project]

    def _read_guids(self, project: str) -> dict[str, str]:
        found: dict[str, str] = {}
        folders = tuple(posixpath.join(project, each) + "/" for each in ("Assets", "Packages"))
        for path in sorted(self.files.identities((META,))):
            if path.startswith(folders):
                guid = self._guid(path)
                if guid:
                    found.setdefault(guid, path.removesuffix(META))
        return found

    def _guid(self, path: str) -> str:
        try:
            return read_meta(self.files.read(path)[:MAX_META]).guid
        except Refused:
            return ""


def _is_marker(path: str) -> bool:
    return path == _MARKER or path.endswith(f"/{_MARKER}")
