"""Whether a GUID leads to an asset: certainly, certainly not, or not to be told from the files at hand. Pure.

A GUID that no .meta file has is missing only if nothing is hidden: every package is on disk and every folder was read.
Otherwise it is unverifiable, and reporting it would be a false alarm for every script of every package.
"""

from __future__ import annotations

from enum import StrEnum

from strictwire.packs.unity.project.known_scripts import KNOWN_SCRIPTS, UI_DLL
from strictwire.packs.unity.project.meta import is_builtin_guid
from strictwire.packs.unity.project.project import Project


class Verdict(StrEnum):
    """What is known about a reference."""

    RESOLVED = "resolved"
    MISSING_ASSET = "no asset has this GUID"
    MISSING_OBJECT = "the asset has no object with this file id"
    UNVERIFIABLE = "the asset may be in a package or folder that is not on disk"


def judge_guid(project: Project, guid: str) -> Verdict:
    """Whether an asset of a project has a GUID."""
    if is_builtin_guid(guid) or project.path_of(guid) is not None:
        return Verdict.RESOLVED
    known = KNOWN_SCRIPTS.get(guid)
    if guid == UI_DLL or (known is not None and any(name in project.packages.known for name in known.packages)):
        return Verdict.RESOLVED
    return Verdict.MISSING_ASSET if project.sees_everything else Verdict.UNVERIFIABLE
