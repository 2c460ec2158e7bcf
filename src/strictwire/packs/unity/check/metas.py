"""Rules about .meta files and GUIDs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from strictwire.check.finding import Level
from strictwire.packs.unity.check.rule import Problem, Subject, unity_rule
from strictwire.packs.unity.project.kinds import is_inside_plugin
from strictwire.packs.unity.project.meta import is_placeholder_guid
from strictwire.packs.unity.project.project import META, Project

_WITHOUT_META: Final = "ProjectSettings/"
"""Settings have no GUID."""


@unity_rule(
    id="ASSET_HAS_META",
    purpose="Checks that every asset has its .meta file.",
    advice="Add the .meta file. Without it every editor makes a GUID of its own, and references break for everyone else.",
    severity=Level.ERROR,
)
def asset_has_meta(subject: Subject) -> Iterator[Problem]:
    project = subject.project
    for path in project.assets:
        if _lacks_meta(project, path):
            yield Problem(file=path, message="The asset has no .meta file")


@unity_rule(
    id="FOLDER_HAS_META",
    purpose="Checks that every folder of assets has its .meta file.",
    advice="Add the .meta file of the folder, which Unity makes as soon as it sees the folder.",
    severity=Level.WARNING,
)
def folder_has_meta(subject: Subject) -> Iterator[Problem]:
    project = subject.project
    for path in sorted(project.folders):
        if _lacks_meta(project, path):
            yield Problem(file=path, message="The folder has no .meta file")


def _lacks_meta(project: Project, path: str) -> bool:
    if path.startswith(_WITHOUT_META) or is_inside_plugin(path):
        return False
    return path + META not in project.metas and path + META not in project.unreadable


@unity_rule(
    id="META_HAS_ASSET",
    purpose="Checks that every .meta file belongs to an asset.",
    advice="Delete the .meta file, or add the asset that was forgotten.",
    severity=Level.ERROR,
)
def meta_has_asset(subject: Subject) -> Iterator[Problem]:
    for path in _orphans(subject, is_folder=False):
        yield Problem(file=path, message="The .meta file belongs to no asset")


@unity_rule(
    id="META_HAS_FOLDER",
    purpose="Checks that every .meta file of a folder belongs to a folder. Git keeps these and drops empty folders.",
    advice="Delete the .meta file. Unity does the same when it opens the project.",
    severity=Level.WARNING,
)
def meta_has_folder(subject: Subject) -> Iterator[Problem]:
    for path in _orphans(subject, is_folder=True):
        yield Problem(file=path, message="The .meta file belongs to a folder that does not exist")


def _orphans(subject: Subject, *, is_folder: bool) -> Iterator[str]:
    project = subject.project
    for path, record in project.metas.items():
        owner = path.removesuffix(META)
        if record.meta.is_folder is not is_folder or project.has(owner) or is_inside_plugin(owner):
            continue
        if not _is_hidden(subject, owner):
            yield path


def _is_hidden(subject: Subject, path: str) -> bool:
    """Whether something above the path could not be listed."""
    return any(above.as_posix() in subject.project.obstacles for above in PurePosixPath(path).parents)


@unity_rule(
    id="GUID_VALID",
    purpose="Checks that every .meta file has one GUID of 32 hexadecimal digits.",
    advice="Restore the .meta file from version control.",
    severity=Level.ERROR,
)
def guid_valid(subject: Subject) -> Iterator[Problem]:
    for path, record in subject.project.metas.items():
        if record.has_conflict:
            continue
        if not record.meta.guid:
            yield Problem(file=path, message="The .meta file has no valid GUID")
        elif record.is_ambiguous:
            yield Problem(file=path, message="The .meta file has more than one GUID")


@unity_rule(
    id="GUID_UNIQUE",
    purpose="Checks that no two assets of a project have the same GUID.",
    advice="Delete the .meta file of the copy and let Unity make a new one; then mend the references that meant the copy.",
    severity=Level.ERROR,
)
def guid_unique(subject: Subject) -> Iterator[Problem]:
    project = subject.project
    for guid, owners in project.owners.items():
        for path in owners[1:]:
            yield Problem(file=path + META, message=f"The GUID {guid} also belongs to {owners[0]}", place=guid)
    for guid, path in project.by_guid.items():
        if guid in project.foreign_guids:
            message = f"The GUID {guid} also belongs to {project.foreign_guids[guid]}"
            yield Problem(file=path + META, message=message, place=guid)


@unity_rule(
    id="GUID_GENERATED",
    purpose="Checks that no GUID was made up by hand, such as a1b2c3d4e5f6…; made-up GUIDs collide between projects.",
    advice="Delete the .meta file, let Unity make a new one, and change the references to the asset.",
    severity=Level.ERROR,
)
def guid_generated(subject: Subject) -> Iterator[Problem]:
    for guid, path in subject.project.by_guid.items():
        if is_placeholder_guid(guid):
            yield Problem(file=path + META, message=f"The GUID {guid} is a placeholder", place=guid)


META_RULES: Final = (
    asset_has_meta,
    folder_has_meta,
    meta_has_asset,
    meta_has_folder,
    guid_valid,
    guid_unique,
    guid_generated,
)
