"""Rules about single files: readable, well formed, fetched, not too large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.check.finding import Level
from strictwire.packs.unity.check.rule import Problem, Subject, unity_rule
from strictwire.packs.unity.project.kinds import Form, type_of
from strictwire.packs.unity.references.scan import Scan
from strictwire.packs.unity.yaml.document import read_documents
from strictwire.packs.unity.yaml.faults import Fault, Malformed
from strictwire.packs.unity.yaml.faults import Problem as Damage

_ALWAYS_YAML: Final = (".unity", ".prefab")
"""Files that are never anything else in a project with text serialization. An .asset may be binary for good reason."""

_OWN_RULES: Final = frozenset({Fault.CONFLICT_MARKER, Fault.DUPLICATE_ID, Fault.ID_OUT_OF_RANGE})
"""Faults that have a rule of their own."""


@unity_rule(
    id="FILE_READABLE",
    purpose="Checks that every asset and .meta file can be read.",
    advice="Allow the user that runs the check to read it, or run the check again when nothing writes to the project.",
    severity=Level.ERROR,
)
def file_readable(subject: Subject) -> Iterator[Problem]:
    for path, reason in subject.graph.unread.items():
        yield Problem(file=path, message=f"The file was not checked: {reason.value}")
    for path in subject.project.unreadable:
        yield Problem(file=path, message="The .meta file cannot be read, so the GUID of its asset is not known")


@unity_rule(
    id="FOLDER_READABLE",
    purpose="Checks that nothing in the project is hidden from the check: links, folders without permission, odd names.",
    advice="Replace the link by its target, or exclude the folder from the project.",
    severity=Level.WARNING,
)
def folder_readable(subject: Subject) -> Iterator[Problem]:
    for path, obstacle in subject.project.obstacles.items():
        yield Problem(file=path, message=f"Not checked: {obstacle.value}")


@unity_rule(
    id="PACKAGES_READABLE",
    purpose="Checks that the package files are valid JSON.",
    advice="Mend the file; without it, references to packages cannot be verified.",
    severity=Level.ERROR,
)
def packages_readable(subject: Subject) -> Iterator[Problem]:
    for path, reason in subject.project.packages.problems.items():
        yield Problem(file=path, message=f"The packages of the project are not known: {reason}")


@unity_rule(
    id="FILE_WELL_FORMED",
    purpose="Checks that scenes, prefabs and other text assets are complete and well-formed Unity YAML.",
    advice="Restore the file from version control, or open it in the editor and save it again.",
    severity=Level.ERROR,
)
def file_well_formed(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        if path.endswith(_ALWAYS_YAML) and scan.form in _NOT_YAML:
            yield Problem(file=path, message=_NOT_YAML[scan.form])
        elif scan.form is Form.YAML:
            yield from (_damage(path, each) for each in _all_damage(subject, path, scan) if each.fault not in _OWN_RULES)


_NOT_YAML: Final[Mapping[Form, str]] = MappingProxyType(
    {Form.TEXT: "The file does not start with %YAML, so it is not a Unity asset", Form.EMPTY: "The file is empty"}
)


def _all_damage(subject: Subject, path: str, scan: Scan) -> Iterator[Damage]:
    """Damage of the file as a whole, and the first damage inside a document."""
    yield from scan.problems
    if any(each.fault is Fault.CONFLICT_MARKER for each in scan.problems):
        return  # both sides of a conflict in one document are malformed in any case
    known = {each.line for each in scan.problems}
    try:
        for _ in read_documents(subject.read(path)):
            pass
    except Malformed as exc:
        # The end of a truncated file is also where its last document is malformed.
        if exc.problem.line not in known and not any(each.fault is Fault.TRUNCATED for each in scan.problems):
            yield exc.problem


@unity_rule(
    id="NO_CONFLICT_MARKERS",
    purpose="Checks that no file holds the markers of an unfinished merge.",
    advice="Finish the merge; UnityYAMLMerge resolves most conflicts in scenes and prefabs.",
    severity=Level.ERROR,
)
def no_conflict_markers(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        marks = [each for each in scan.problems if each.fault is Fault.CONFLICT_MARKER]
        if marks:
            yield Problem(file=path, message=_CONFLICT, line=marks[0].line)
    for path, record in subject.project.metas.items():
        if record.has_conflict and path not in subject.graph.scans:
            yield Problem(file=path, message=_CONFLICT)


_CONFLICT: Final = "The file holds merge conflict markers"


@unity_rule(
    id="FILE_IDS_UNIQUE",
    purpose="Checks that no two objects of a file have the same file id.",
    advice="Restore the file from before the merge that duplicated the object. Unity loads only one of them.",
    severity=Level.ERROR,
)
def file_ids_unique(subject: Subject) -> Iterator[Problem]:
    return _with_fault(subject, Fault.DUPLICATE_ID)


@unity_rule(
    id="FILE_IDS_IN_RANGE",
    purpose="Checks that file ids fit into a signed 64-bit integer.",
    advice="Give the object an id in range and change the references to it. Unity never writes such ids.",
    severity=Level.ERROR,
)
def file_ids_in_range(subject: Subject) -> Iterator[Problem]:
    return _with_fault(subject, Fault.ID_OUT_OF_RANGE)


@unity_rule(
    id="LFS_FETCHED",
    purpose="Checks that Git LFS has fetched the content of every asset.",
    advice="Run `git lfs pull`. References from and to this asset cannot be verified before.",
    severity=Level.WARNING,
)
def lfs_fetched(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        if scan.form is Form.LFS_POINTER:
            yield Problem(file=path, message="The file is a Git LFS pointer")


@unity_rule(
    id="TEXT_SERIALIZED",
    purpose="Checks that scenes and prefabs are stored as text.",
    advice="Set Asset Serialization to Force Text in the project settings. Binary files cannot be checked or merged.",
    severity=Level.WARNING,
)
def text_serialized(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        if path.endswith(_ALWAYS_YAML) and scan.form is Form.BINARY:
            yield Problem(file=path, message="The file is binary and was not checked")


@unity_rule(
    id="ASSET_SIZE",
    purpose="Checks that no asset is larger than its type may be.",
    advice="Make it smaller, move it to Git LFS, or raise `max_bytes` for its type.",
    severity=Level.WARNING,
)
def asset_size(subject: Subject) -> Iterator[Problem]:
    for path, asset in subject.project.assets.items():
        limit = subject.limits.max_bytes_of(type_of(path))
        if asset.size > limit:
            yield Problem(file=path, message=f"The asset has {asset.size:,} bytes; {limit:,} are allowed")


def _with_fault(subject: Subject, fault: Fault) -> Iterator[Problem]:
    for path, scan in subject.scans():
        if not any(each.fault is Fault.CONFLICT_MARKER for each in scan.problems):
            yield from (_damage(path, each) for each in scan.problems if each.fault is fault)


def _damage(path: str, damage: Damage) -> Problem:
    place = f"fileID {damage.file_id}" if damage.file_id is not None else ""
    message = f"{damage.fault.value[0].upper()}{damage.fault.value[1:]}" + (f" ({place})" if place else "")
    return Problem(file=path, message=message, line=damage.line, place=place)


FILE_RULES: Final = (
    file_readable,
    folder_readable,
    packages_readable,
    file_well_formed,
    no_conflict_markers,
    file_ids_unique,
    file_ids_in_range,
    lfs_fetched,
    text_serialized,
    asset_size,
)
