"""A semantic difference as values. Renderers and tools work on these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from strictwire.canon.json import JsonObject


class Action(StrEnum):
    """What happened."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    """To another parent, or from one object to another."""
    REORDERED = "reordered"
    """Among the same siblings."""
    CHANGED = "changed"


class Part(StrEnum):
    """What it happened to."""

    OBJECT = "object"
    COMPONENT = "component"
    FIELD = "field"
    OVERRIDE = "override"
    """A property of a prefab instance that differs from its prefab."""


class Change(Struct, frozen=True):
    """One change. Texts are for people; references are shown by the name of what they lead to."""

    action: Action
    part: Part
    object: str
    """Hierarchy path after the change, or before it if the object is gone; empty for settings of a scene."""
    file_id: int
    """Id of the GameObject or PrefabInstance, because paths need not be unique; of the document itself for settings."""
    component: str = ""
    """Type of the component or document; `GameObject` for fields of the object itself."""
    property: str = ""
    before: str | None = None
    """The value, the order, or the path of the parent, which is empty for a root; None where there is none."""
    after: str | None = None
    source: str = ""
    """The prefab, if the object is an instance of one."""

    def as_json(self) -> JsonObject:
        """The members that are set. The file id is text, because it exceeds what JSON numbers carry exactly."""
        known: JsonObject = {
            "action": self.action.value,
            "part": self.part.value,
            "object": self.object,
            "fileId": str(self.file_id),
            "component": self.component or None,
            "property": self.property or None,
            "before": self.before,
            "after": self.after,
            "source": self.source or None,
        }
        return {name: value for name, value in known.items() if value is not None}


class Status(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """The changes of one scene or prefab."""

    path: str
    old_path: str | None = None
    """Where it was before, if it was renamed."""
    status: Status
    changes: tuple[Change, ...] = ()
    omitted: int = 0
    """Changes beyond the limit, which are counted and not listed."""
    problem: str = ""
    """Why the file was not compared, or not fully."""

    def as_json(self) -> JsonObject:
        """The form of `--format json`."""
        known: JsonObject = {
            "path": self.path,
            "oldPath": self.old_path,
            "status": self.status.value,
            "problem": self.problem or None,
            "omitted": self.omitted or None,
        }
        shown = {name: value for name, value in known.items() if value is not None}
        return {**shown, "changes": [each.as_json() for each in self.changes]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectDiff:
    """The changes between two versions of a repository, a project or a file."""

    before: str
    """The versions as the user named them."""
    after: str
    files: tuple[FileDiff, ...]
    skipped: int = 0
    """Changed files that were not compared because time was up."""

    @property
    def is_complete(self) -> bool:
        """Whether every file was compared."""
        return not self.skipped and not any(each.problem for each in self.files)

    def as_json(self) -> JsonObject:
        """The form of `--format json`."""
        return {"before": self.before, "after": self.after, "files": [each.as_json() for each in self.files]}
