"""Where a tree gets the prefabs from that its instances name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from strictwire.packs.unity.yaml.objects import Structure


class Obstacle(StrEnum):
    """Why the inside of an instance is not known. The value is part of diagnostics."""

    MODEL = "is an imported model, whose objects are not stored as text"
    ABSENT = "is not in the project"
    LFS_POINTER = "is a Git LFS pointer"
    BINARY = "is not saved as text"
    UNREADABLE = "cannot be read"
    CYCLE = "contains itself"
    TOO_DEEP = "is nested too deeply"
    CUT = "was not expanded, because the limit of objects or time was reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A prefab or model that an instance names."""

    path: str
    """Relative to the project; the GUID where no file has it."""
    name: str
    """The name of its root, unless the content says otherwise: that of the file."""
    structure: Structure | None = None
    obstacle: Obstacle | None = None
    """Set if there is no structure."""


class Sources(Protocol):
    """Prefabs by GUID."""

    def find(self, guid: str) -> Source:
        """The asset of a GUID; one that cannot be read comes with its obstacle."""
