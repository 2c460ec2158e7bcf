"""Rules about references: scripts, components, assets, objects and prefabs that are missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import filterfalse
from typing import Final

from strictwire.check.finding import Level
from strictwire.packs.unity.check.rule import Problem, Subject, unity_rule
from strictwire.packs.unity.project.project import META
from strictwire.packs.unity.references.locate import Located, locate
from strictwire.packs.unity.references.resolve import Verdict
from strictwire.packs.unity.references.scan import BUILD_SETTINGS, Scan
from strictwire.packs.unity.yaml.objects import GAME_OBJECT
from strictwire.packs.unity.yaml.values import Reference

MAX_PLACES: Final = 50
"""Findings of one rule about one missing target in one file. One more says how many are left out."""

_SCRIPT: Final = "m_Script"
_INTO_PREFAB: Final = re.compile(
    r"""m_Modification\.m_Modifications\[\d+\]\.target
    | m_Modification\.m_Removed\w+\[\d+\]
    | m_Modification\.m_Added\w+\[\d+\]\.targetCorrespondingSourceObject
    | m_CorrespondingSourceObject | m_PrefabParentObject""",
    re.VERBOSE,
)
"""Properties of an instance that name an object of its prefab."""


@unity_rule(
    id="SCRIPT_EXISTS",
    purpose="Checks that the script of every component and ScriptableObject exists.",
    advice="Restore the script with its .meta file, or remove the component. Unity shows it as a missing script.",
    severity=Level.ERROR,
)
def script_exists(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        missing = [each for each in scan.scripts if subject.resolver.judge_guid(each.guid) is Verdict.MISSING_ASSET]
        if missing or scan.has_null_script:
            yield from _missing_scripts(subject, path, {each.guid for each in missing})


def _missing_scripts(subject: Subject, path: str, guids: set[str]) -> Iterator[Problem]:
    def is_wanted(reference: Reference, name: str) -> bool:
        return name == _SCRIPT and (reference.file_id == 0 or reference.guid in guids)

    def describe(found: Located) -> str:
        what = f"no asset has the GUID {found.reference.guid}" if found.reference.guid else "the reference is empty"
        return f"The script {_component_number(subject, path, found)}is missing: {what}"

    hints = [b"m_Script: {fileID: 0}", *(guid.encode() for guid in sorted(guids))]
    yield from _report(subject, path, locate(subject.read(path), is_wanted, hints=hints), describe)


def _component_number(subject: Subject, path: str, found: Located) -> str:
    """`of component 2 `, as the inspector counts them from 0; empty for an asset."""
    names = subject.names_of(path)
    owner = names.structure.components.get(found.owner) if names else None
    holder = names.structure.objects.get(owner.game_object) if names and owner else None
    if holder is None or found.owner not in holder.components:
        return ""
    return f"of component {holder.components.index(found.owner)} "


@unity_rule(
    id="COMPONENT_EXISTS",
    purpose="Checks that every component that a GameObject lists is in the file.",
    advice="Restore the file from before the component was lost, or remove the entry from m_Component.",
    severity=Level.ERROR,
)
def component_exists(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        lost = set(scan.dangling) | ({0} if scan.has_null_component else set())
        if lost:
            found = filter(_is_component_entry, _local(subject, path, lost))
            yield from _report(subject, path, found, _describe_component)


def _describe_component(found: Located) -> str:
    file_id = found.reference.file_id
    return f"A component with fileID {file_id} is not in the file" if file_id else "A component is empty"


@unity_rule(
    id="LOCAL_REFERENCE_RESOLVES",
    purpose="Checks that references inside a file lead to an object of the file.",
    advice="Restore the object, or clear the reference. A merge that dropped an object leaves such references behind.",
    severity=Level.ERROR,
)
def local_reference_resolves(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        if scan.dangling:
            found = filterfalse(_is_component_entry, _local(subject, path, set(scan.dangling)))
            yield from _report(subject, path, found, _describe_local)


def _describe_local(found: Located) -> str:
    return f"{found.property} refers to fileID {found.reference.file_id}, which is not in the file"


def _local(subject: Subject, path: str, ids: set[int]) -> Iterator[Located]:
    def is_wanted(reference: Reference, name: str) -> bool:
        is_lost = not reference.guid and reference.file_id in ids
        return is_lost and (reference.file_id != 0 or name.startswith("m_Component["))

    hints = [f"fileID: {each}".encode() for each in sorted(ids)]
    return locate(subject.read(path), is_wanted, hints=hints)


def _is_component_entry(found: Located) -> bool:
    return found.class_id == GAME_OBJECT and found.property.startswith("m_Component[")


@unity_rule(
    id="REFERENCE_RESOLVES",
    purpose="Checks that references to other assets lead to an asset, and to an object in it.",
    advice="Restore the asset with its .meta file, or assign another one.",
    severity=Level.ERROR,
)
def reference_resolves(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        broken = _broken(subject, scan, Verdict.MISSING_ASSET, Verdict.MISSING_OBJECT)
        others = (each for each in _remote(subject, path, broken) if not _has_own_rule(each))
        yield from _report(subject, path, others, partial(_describe_remote, subject))
        yield from _broken_assets(subject, path, scan)


def _has_own_rule(found: Located) -> bool:
    return found.property == _SCRIPT or _INTO_PREFAB.fullmatch(found.property) is not None


def _broken_assets(subject: Subject, path: str, scan: Scan) -> Iterator[Problem]:
    """GUIDs in text formats and of Addressables, which name a whole asset."""
    if path == BUILD_SETTINGS:
        return
    for guid in scan.assets:
        if subject.resolver.judge_guid(guid) is Verdict.MISSING_ASSET:
            line = subject.read(path).partition(guid.encode())[0].count(b"\n") + 1
            yield Problem(file=path, message=f"The file refers to GUID {guid}, which no asset has", line=line, place=guid)


@unity_rule(
    id="OVERRIDE_TARGET_EXISTS",
    purpose="Checks that overrides of a prefab instance lead to an object of the prefab.",
    advice="Remove the unused override in the editor. It has no effect since the object was deleted from the prefab.",
    severity=Level.WARNING,
)
def override_target_exists(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        broken = _broken(subject, scan, Verdict.MISSING_ASSET, Verdict.MISSING_OBJECT)
        # A prefab that is missing altogether is one finding, at m_SourcePrefab.
        lost = {guid for _, guid in scan.instances if subject.project.path_of(guid) is None}
        wanted = {reference: verdict for reference, verdict in broken.items() if reference.guid not in lost}
        into = (each for each in _remote(subject, path, wanted) if _INTO_PREFAB.fullmatch(each.property))
        yield from _report(subject, path, into, partial(_describe_remote, subject))


@unity_rule(
    id="BUILD_SCENE_EXISTS",
    purpose="Checks that the scenes of the build settings exist.",
    advice="Remove the scene from the build settings, or restore it.",
    severity=Level.ERROR,
)
def build_scene_exists(subject: Subject) -> Iterator[Problem]:
    scanned = subject.graph.scans.get(BUILD_SETTINGS)
    if scanned is None:
        return
    project = subject.project
    known = {project.by_guid[guid] for guid in scanned.scan.assets if guid in project.by_guid}
    for path, guid in _build_scenes(subject.read(BUILD_SETTINGS)):
        if guid not in project.by_guid and path not in project.assets and path not in known:
            yield Problem(file=BUILD_SETTINGS, message=f"The scene {path} of the build does not exist", place=path)


_BUILD_SCENE: Final = re.compile(rb"\n    path: ([^\r\n]*)\r?\n    guid: ([0-9a-f]{32})\b")


def _build_scenes(raw: bytes) -> Iterator[tuple[str, str]]:
    for path, guid in _BUILD_SCENE.findall(raw):
        yield path.decode("utf-8", "replace"), guid.decode()


@unity_rule(
    id="PREFAB_ACYCLIC",
    purpose="Checks that no prefab contains itself, directly or through others.",
    advice="Remove one of the instances. Unity refuses to load such prefabs.",
    severity=Level.ERROR,
)
def prefab_acyclic(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        if path.endswith(".prefab") and scan.instances:
            subject.resolver.ids_of(path)
    for cycle in sorted(subject.resolver.cycles):
        others = " -> ".join((*cycle[1:], cycle[0]))
        yield Problem(file=cycle[0], message=f"The prefab contains itself: {others}", place=others)


@unity_rule(
    id="REFERENCE_VERIFIABLE",
    purpose="Checks that every reference can be verified: no package or folder that it may lead to is absent.",
    advice="Run the check where Library/PackageCache is filled, or embed the package.",
    severity=None,
)
def reference_verifiable(subject: Subject) -> Iterator[Problem]:
    for path, scan in _scans(subject):
        guids = [guid for guid in sorted(set(scan.guids())) if subject.resolver.judge_guid(guid) is Verdict.UNVERIFIABLE]
        for guid in guids:
            yield Problem(file=path, message=f"The GUID {guid} may be in a package that is not on disk", place=guid)


def count_unverifiable(subject: Subject) -> tuple[int, int]:
    """How many GUIDs cannot be verified, and in how many files."""
    guids = {guid for guid in subject.graph.users if subject.resolver.judge_guid(guid) is Verdict.UNVERIFIABLE}
    return len(guids), len({path for guid in guids for path in subject.graph.users[guid]})


def _scans(subject: Subject) -> Iterator[tuple[str, Scan]]:
    for path, scanned in subject.graph.scans.items():
        yield path, scanned.scan


def _broken(subject: Subject, scan: Scan, *verdicts: Verdict) -> dict[Reference, Verdict]:
    found: dict[Reference, Verdict] = {}
    for remote in scan.remotes:
        verdict = subject.resolver.judge(remote)
        if verdict in verdicts:
            found[Reference(remote.file_id, remote.guid)] = verdict
    return found


def _remote(subject: Subject, path: str, broken: dict[Reference, Verdict]) -> Iterator[Located]:
    if not broken:
        return iter(())
    hints = sorted({each.guid.encode() for each in broken})
    raw = subject.read(path)
    if path.endswith(META):
        return _in_meta(raw, broken)
    return locate(raw, lambda reference, _name: reference in broken, hints=hints)


_META_REFERENCE: Final = re.compile(rb"([A-Za-z_]\w*): \{fileID: (-?\d{1,20}),\s+guid: ([0-9a-fA-F]{32})")


def _in_meta(raw: bytes, broken: dict[Reference, Verdict]) -> Iterator[Located]:
    """A .meta file has no documents."""
    for found in _META_REFERENCE.finditer(raw):
        reference = Reference(int(found[2]), found[3].decode().lower())
        if reference in broken:
            line = raw.count(b"\n", 0, found.start()) + 1
            yield Located(line, 0, 0, "", None, found[1].decode(), reference)


def _describe_remote(subject: Subject, found: Located) -> str:
    reference = found.reference
    path = subject.project.path_of(reference.guid)
    missing = f"fileID {reference.file_id} of {path}, which has no such object"
    return f"{found.property} refers to " + (f"GUID {reference.guid}, which no asset has" if path is None else missing)


def _report(
    subject: Subject, path: str, located: Iterable[Located], describe: Callable[[Located], str]
) -> Iterator[Problem]:
    """A problem for each place, up to MAX_PLACES for each target."""
    seen: Counter[Reference] = Counter()
    for found in located:
        seen[found.reference] += 1
        if seen[found.reference] <= MAX_PLACES:
            yield _problem(subject, path, found, describe(found))
    for reference, count in seen.items():
        if count > MAX_PLACES:
            target = (
                f"GUID {reference.guid}, fileID {reference.file_id}" if reference.guid else f"fileID {reference.file_id}"
            )
            message = f"{count - MAX_PLACES} more places refer to {target}"
            yield Problem(file=path, message=message, place=f"more:{reference.guid}:{reference.file_id}")


def _problem(subject: Subject, path: str, found: Located, message: str) -> Problem:
    names = subject.names_of(path)
    where = names.path(found.owner) if names else ""
    reference = found.reference
    # Without indices: they move when an entry before is removed.
    stable = re.sub(r"\[\d+\]", "[]", found.property)
    place = f"{where or found.owner}:{stable}:{reference.guid}:{reference.file_id}"
    return Problem(file=path, message=f"{where}: {message}" if where else message, line=found.line, place=place)


REFERENCE_RULES: Final = (
    script_exists,
    component_exists,
    local_reference_resolves,
    reference_resolves,
    override_target_exists,
    build_scene_exists,
    prefab_acyclic,
    reference_verifiable,
)
