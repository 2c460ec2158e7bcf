"""Rules about references: scripts, components, assets, objects and prefabs that are missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from strictwire.check.finding import Level
from strictwire.check.render.text import count
from strictwire.packs.unity.check.rule import Problem, Subject, unity_rule
from strictwire.packs.unity.hierarchy.plan import count_unreachable
from strictwire.packs.unity.project.project import META
from strictwire.packs.unity.project.verdict import Verdict
from strictwire.packs.unity.references.locate import Located
from strictwire.packs.unity.references.missing import (
    SCRIPT,
    SOURCES,
    find_broken,
    is_into_prefab,
    locate_broken,
    lost_components,
    lost_objects,
    missing_scripts,
)
from strictwire.packs.unity.references.scan import BUILD_SETTINGS, Scan
from strictwire.packs.unity.yaml.index import LineNumbers
from strictwire.packs.unity.yaml.values import Reference

MAX_PLACES: Final = 50
"""Findings of one rule about one missing target in one file. One more says how many are left out."""


@unity_rule(
    id="SCRIPT_EXISTS",
    purpose="Checks that the script of every component and ScriptableObject exists.",
    advice="Restore the script with its .meta file, or remove the component. Unity shows it as a missing script.",
    severity=Level.ERROR,
)
def script_exists(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        found = missing_scripts(scan, subject.resolver, partial(subject.read, path))
        yield from _report(subject, path, found, partial(_describe_script, subject, path))


def _describe_script(subject: Subject, path: str, found: Located) -> str:
    what = f"no asset has the GUID {found.reference.guid}" if found.reference.guid else "the reference is empty"
    return f"The script {_component_number(subject, path, found)}is missing: {what}"


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
    for path, scan in subject.scans():
        yield from _report(subject, path, lost_components(scan, partial(subject.read, path)), _describe_component)


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
    for path, scan in subject.scans():
        yield from _report(subject, path, lost_objects(scan, partial(subject.read, path)), _describe_local)


def _describe_local(found: Located) -> str:
    return f"{found.property} refers to fileID {found.reference.file_id}, which is not in the file"


@unity_rule(
    id="REFERENCE_RESOLVES",
    purpose="Checks that references to other assets lead to an asset, and to an object in it.",
    advice="Restore the asset with its .meta file, or assign another one.",
    severity=Level.ERROR,
)
def reference_resolves(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        found = _located(subject, path, find_broken(scan, subject.resolver))
        others = (each for each in found if each.property != SCRIPT and not is_into_prefab(each))
        yield from _report(subject, path, others, partial(_describe_remote, subject))
        yield from _broken_assets(subject, path, scan)


def _broken_assets(subject: Subject, path: str, scan: Scan) -> Iterator[Problem]:
    """GUIDs in text formats and of Addressables, which name a whole asset."""
    if path == BUILD_SETTINGS:
        return
    missing = {guid for guid in scan.assets if subject.resolver.judge_guid(guid) is Verdict.MISSING_ASSET}
    if not missing:
        return
    raw = subject.read(path)
    numbers = LineNumbers(raw)
    for found in _ANY_GUID.finditer(raw):
        guid = found[0].decode().lower()
        if guid in missing:
            missing.remove(guid)  # the first mention is enough
            message = f"The file refers to GUID {guid}, which no asset has"
            yield Problem(file=path, message=message, line=numbers.at(found.start()), place=guid)
    for guid in sorted(missing):
        yield Problem(file=path, message=f"The file refers to GUID {guid}, which no asset has", place=guid)


_ANY_GUID: Final = re.compile(rb"\b[0-9a-fA-F]{32}\b")


@unity_rule(
    id="OVERRIDE_TARGET_EXISTS",
    purpose="Checks that overrides of a prefab instance lead to an object of the prefab.",
    advice="Remove the unused override in the editor. It has no effect since the object was deleted from the prefab.",
    severity=Level.WARNING,
)
def override_target_exists(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        located = list(_located(subject, path, find_broken(scan, subject.resolver)))
        # A prefab that is missing altogether is one finding, at its source.
        lost = {each.reference.guid for each in located if each.property in SOURCES}
        stale: dict[tuple[int, Reference], list[Located]] = {}
        for each in located:
            if is_into_prefab(each) and each.reference.guid not in lost:
                stale.setdefault((each.owner, each.reference), []).append(each)
        # A deleted object leaves an override for each of its properties: one finding about the object is enough.
        first = (places[0] for places in stale.values())
        yield from _report(subject, path, first, partial(_describe_stale, subject, stale))


def _describe_stale(subject: Subject, stale: Mapping[tuple[int, Reference], list[Located]], found: Located) -> str:
    more = len(stale[found.owner, found.reference]) - 1
    others = f" ({count(more, 'more override')} of the same object)" if more else ""
    return _describe_remote(subject, found) + others


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
    for path, scan in subject.scans():
        if path.endswith(".prefab") and scan.instances:
            subject.resolver.ids_of(path)
    for cycle in sorted(subject.resolver.cycles):
        others = " -> ".join((*cycle[1:], cycle[0]))
        yield Problem(file=cycle[0], message=f"The prefab contains itself: {others}", place=others)


@unity_rule(
    id="PARENTS_ACYCLIC",
    purpose="Checks that no object is its own parent, directly or through others.",
    advice="Restore the file from before the merge that mixed up the parents. Unity does not show these objects.",
    severity=Level.ERROR,
)
def parents_acyclic(subject: Subject) -> Iterator[Problem]:
    for path, _scan in subject.scans():
        names = subject.names_of(path)
        lost = count_unreachable(names.structure) if names else 0
        if lost:
            message = f"No root leads to {count(lost, 'object')}: the parents form a cycle"
            yield Problem(file=path, message=message, place="parents")


@unity_rule(
    id="REFERENCE_VERIFIABLE",
    purpose="Checks that every reference can be verified: no package or folder that it may lead to is absent.",
    advice="Run the check where Library/PackageCache is filled, or embed the package.",
    severity=None,
)
def reference_verifiable(subject: Subject) -> Iterator[Problem]:
    for path, scan in subject.scans():
        guids = [guid for guid in sorted(set(scan.guids())) if subject.resolver.judge_guid(guid) is Verdict.UNVERIFIABLE]
        for guid in guids:
            yield Problem(file=path, message=f"The GUID {guid} may be in a package that is not on disk", place=guid)


def count_unverifiable(subject: Subject) -> tuple[int, int]:
    """How many GUIDs cannot be verified, and in how many files."""
    guids = {guid for guid in subject.graph.users if subject.resolver.judge_guid(guid) is Verdict.UNVERIFIABLE}
    return len(guids), len({path for guid in guids for path in subject.graph.users[guid]})


def _located(subject: Subject, path: str, broken: dict[Reference, Verdict]) -> Iterator[Located]:
    return locate_broken(broken, partial(subject.read, path), is_meta=path.endswith(META))


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
        if subject.is_late():
            return
        seen[found.reference] += 1
        if seen[found.reference] <= MAX_PLACES:
            yield _problem(subject, path, found, describe(found))
    for reference, places in seen.items():
        if places > MAX_PLACES:
            target = (
                f"GUID {reference.guid}, fileID {reference.file_id}" if reference.guid else f"fileID {reference.file_id}"
            )
            message = f"{places - MAX_PLACES} more places refer to {target}"
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
    parents_acyclic,
    reference_verifiable,
)
